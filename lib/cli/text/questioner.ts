import { createInterface } from 'node:readline/promises';
import type { ReadStream, WriteStream } from 'node:tty';

/**
 * Asks on a terminal; only "y" and "yes" mean yes, and an interruption or the end of input means no.
 *
 * @returns undefined when one of the two streams is no terminal
 */
export function questioner(
  input: ReadStream,
  output: WriteStream,
): ((question: string) => Promise<boolean>) | undefined {
  if (!input.isTTY || !output.isTTY) return undefined;
  return async (question) => {
    const terminal = createInterface({ input, output });
    const ended = new AbortController();
    for (const end of ['close', 'SIGINT'] as const) terminal.once(end, () => ended.abort());
    try {
      return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `, { signal: ended.signal })).trim());
    } catch (error) {
      // The person pressed Ctrl+C or Ctrl+D: that is a no.
      if (ended.signal.aborted) return false;
      throw error;
    } finally {
      terminal.close();
    }
  };
}
