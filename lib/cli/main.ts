#!/usr/bin/env node
import { openOperator } from './open-operator.js';
import { run } from './run.js';
import { questioner } from './text/questioner.js';

// The reader of the output may close it early, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? process.exitCode : 1);
});

function interruption(): AbortSignal {
  const interrupted = new AbortController();
  // Only the first signal is caught, so a second one ends the process at once.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  return interrupted.signal;
}

// Not process.exit(): it would drop pending output, and hide resources that were left open.
process.exitCode = await run(process.argv.slice(2), {
  streams: {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    isErrTerminal: process.stderr.isTTY,
  },
  env: process.env,
  interruption,
  ask: questioner(process.stdin, process.stderr),
  open: openOperator,
});
