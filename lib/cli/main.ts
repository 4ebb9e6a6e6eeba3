#!/usr/bin/env node
import { isatty, type ReadStream, type WriteStream } from 'node:tty';
import { createInterface } from 'node:readline/promises';
import { EXIT } from './options/exit-code.js';
import { openOperator } from './session/open-operator.js';
import { run } from './run.js';

const interrupted = new AbortController();

function interruption(): AbortSignal {
  // Only the first signal is caught, so a second one ends the process at once.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  return interrupted.signal;
}

/**
 * Writes until the stream fails, as it does when its reader closes it early, like `head`. Then the command is interrupted
 * and comes to its own end: an exit at once would lose the exit code, and changes that the audit log does not have yet.
 */
function writer(stream: NodeJS.WriteStream): (text: string) => void {
  let hasFailed = false;
  stream.on('error', ({ code }: NodeJS.ErrnoException) => {
    hasFailed = true;
    // Other errors, such as a full disk, mean that the output is incomplete, and its reader does not know.
    if (code !== 'EPIPE') process.exitCode ||= EXIT.failed;
    interrupted.abort();
  });
  return (text) => {
    if (!hasFailed) stream.write(text);
  };
}

/** Node makes a pipe non-blocking when `process.stdin` is touched. Then a file "-" that is not written yet can't be read. */
function asker() {
  return isatty(0) ? questioner(process.stdin, process.stderr) : undefined;
}

const exitCode = await run(process.argv.slice(2), {
  streams: { out: writer(process.stdout), err: writer(process.stderr), isErrTerminal: process.stderr.isTTY },
  env: process.env,
  interruption,
  ask: asker(),
  open: openOperator,
});
// Not process.exit(): it would drop pending output, and hide resources that were left open.
if (exitCode !== EXIT.done) process.exitCode = exitCode;

/**
 * Returns a function that asks a yes-no question on the terminal. Only "y" and "yes" mean yes. An interruption or the
 * end of the input means no.
 *
 * @returns undefined if one of the two streams is not a terminal
 */
function questioner(input: ReadStream, output: WriteStream): ((question: string) => Promise<boolean>) | undefined {
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
