import { startArchive } from './archive/start-archive.js';
import { AppProcess } from './run/app-process.js';
import { readChoice } from './run/choice.js';
import { assertFree, readPorts } from './run/ports.js';
import { type SharedStore, startStore } from './run/shared-store.js';
import { tryIt } from './run/try-it.js';

const stop = new AbortController();
// `on`, not `once`: a second Ctrl-C must not end this process before it has ended the others.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());

/** Starts the store, the archive, and the app once per port; ends them all on Ctrl-C. */
async function run(): Promise<void> {
  const choice = readChoice();
  const ports = readPorts();
  await assertFree(ports);
  // Both end after the apps, which give their permits back to the store before.
  await using store = await startStore(choice);
  await using archive = await startArchive(ports.archive);
  const [variables, shown] = [store.variables, store.shownVariables].map((each) => ({
    ...each,
    ARCHIVE_URL: archive.url,
  }));
  const apps = ports.apps.map((port, index) => new AppProcess(port, index, variables!, shown!, stop.signal));
  void tellEndOf(store);
  try {
    await Promise.all(apps.map((app) => app.ready()));
    console.log(tryIt(apps, store, archive.url));
    await Promise.all(apps.map((app) => tellEnd(app)));
  } finally {
    stop.abort();
    await Promise.all(apps.map((app) => app.ended));
  }
}

/** The end of one app is no reason to end the others: it is what the sample is there to show. */
async function tellEnd(app: AppProcess): Promise<void> {
  const how = await app.ended;
  if (stop.signal.aborted) return;
  console.log(
    `\nThe app on port ${app.port} ended (${how}). Start it again, in another terminal:\n\n  ${app.command}\n`,
  );
}

async function tellEndOf({ name, ended }: SharedStore): Promise<void> {
  const how = await ended;
  if (how === undefined || stop.signal.aborted) return;
  console.log(`\n${name} ended (${how}): no job runs from now on. Press Ctrl-C, then start the sample again.\n`);
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
