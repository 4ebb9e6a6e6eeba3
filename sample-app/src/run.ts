import { readChoice } from './run/choice.js';
import { runEmbedded } from './run/embedded/run-embedded.js';
import { assertFree, readPorts } from './run/ports.js';
import { runProcesses } from './run/processes.js';

const stop = new AbortController();
// `on`, not `once`: a second Ctrl-C must not end this process before it has ended the others.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
// Without a reader of its lines it ends as on Ctrl-C: an error without a listener would leave the server behind.
for (const output of [process.stdout, process.stderr]) output.on('error', () => stop.abort());

/** Runs the app once per port until Ctrl-C: in this process, or each in its own with a store that is a server. */
async function run(): Promise<void> {
  const { store, url } = readChoice();
  const ports = readPorts();
  await assertFree(ports);
  await (store === 'embedded' ? runEmbedded(ports, stop) : runProcesses(ports, stop, store, url));
}

try {
  await run();
} catch (error) {
  // A process that Ctrl-C ended did not fail.
  if (!stop.signal.aborted) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}
