import { createInterface } from 'node:readline/promises';
import type { ReadStream, WriteStream } from 'node:tty';

/**
 * Returns a function that asks a yes-no question on the terminal. Only "y" and "yes" mean yes. An interruption or the
 * end of the input means no.
 *
 * @returns undefined if one of the two streams is not a terminal
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
      // The user pressed Ctrl+C or Ctrl+D. That means no.
      if (ended.signal.aborted) return false;
      throw error;
    } finally {
      terminal.close();
    }
  };
}
