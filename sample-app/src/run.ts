import { startArchive } from './archive/start-archive.js';
import { type Choice, readChoice } from './run/choice.js';
import { Controls } from './run/controls.js';
import { isEnd, onKeys } from './run/keys.js';
import { assertFree, readPorts } from './run/ports.js';
import { Sample } from './run/sample.js';
import { type SharedStore, startStore } from './run/shared-store.js';
import { introduction } from './run/texts.js';

const stop = new AbortController();
// `on`, not `once`: a second Ctrl-C must not end this process before it has ended the others.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
// Without a reader of its lines it ends as on Ctrl-C: an error without a listener would leave the server behind.
for (const output of [process.stdout, process.stderr]) output.on('error', () => stop.abort());

const write = (text: string) => void process.stdout.write(text);

/** Starts the store, the archive, and the app once per port, each in a process of its own; ends them all on Ctrl-C. */
async function run(choice: Choice): Promise<void> {
  const ports = readPorts();
  await assertFree(ports);
  // Both end after the nodes, which give their permits back to the store before.
  await using store = await startStore(choice);
  await using archive = await startArchive();
  await using sample = new Sample(ports, { store, archive }, { write, stop: stop.signal });
  void tellEndOf(store);
  try {
    await sample.ready();
    await serve(sample);
  } finally {
    stop.abort();
  }
}

/** Until Ctrl-C. */
async function serve(sample: Sample): Promise<void> {
  const controls = new Controls(sample, write);
  const endKeys = onKeys((key) => (isEnd(key) ? stop.abort() : void controls.press(key)));
  write(introduction(sample));
  // Not before: lines of the nodes must not come ahead of the introduction.
  await sample.begin();
  await aborted(stop.signal);
  endKeys();
  write('\nThe nodes give their permits back and end ...\n');
}

async function tellEndOf({ name, ended }: SharedStore): Promise<void> {
  const how = await ended;
  if (how === undefined || stop.signal.aborted) return;
  write(`\n${name} ended (${how}): no job runs from now on. Press Ctrl-C, then start the sample again.\n\n`);
}

function aborted(signal: AbortSignal): Promise<unknown> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

try {
  await run(readChoice());
} catch (error) {
  // A process that Ctrl-C ended did not fail.
  if (!stop.signal.aborted) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}
