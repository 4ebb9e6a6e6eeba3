import { startArchive } from '../archive/start-archive.js';
import type { ServerName } from '../environment.js';
import { AppProcess } from './app-process.js';
import type { Ports } from './ports.js';
import { type SharedStore, startStore } from './shared-store.js';
import { tryIt } from './try-it.js';

/**
 * Starts the store, the archive, and the app once per port, each in a process of its own; ends them all on Ctrl-C.
 *
 * @param url of a server that already runs
 * @param stop aborts on Ctrl-C
 */
export async function runProcesses(
  ports: Ports,
  stop: AbortController,
  store: ServerName,
  url?: string,
): Promise<void> {
  // Both end after the apps, which give their permits back to the store before.
  await using shared = await startStore(store, url);
  await using archive = await startArchive(ports.archive);
  const [variables, shown] = [shared.variables, shared.shownVariables].map((each) => ({
    ...each,
    ARCHIVE_URL: archive.url,
  }));
  const apps = ports.apps.map((port, index) => new AppProcess(port, index, variables!, shown!, stop.signal));
  void tellEndOf(shared, stop.signal);
  try {
    await Promise.all(apps.map((app) => app.ready()));
    console.log(tryIt(apps, shared, archive.url));
    await Promise.all(apps.map((app) => tellEnd(app, stop.signal)));
  } finally {
    stop.abort();
    await Promise.all(apps.map((app) => app.ended));
  }
}

/** The end of one app is no reason to end the others: it is what the sample is there to show. */
async function tellEnd(app: AppProcess, stop: AbortSignal): Promise<void> {
  const how = await app.ended;
  if (stop.aborted) return;
  console.log(
    `\nThe app on port ${app.port} ended (${how}). Start it again, in another terminal:\n\n  ${app.command}\n`,
  );
}

async function tellEndOf({ name, ended }: SharedStore, stop: AbortSignal): Promise<void> {
  const how = await ended;
  if (how === undefined || stop.aborted) return;
  console.log(`\n${name} ended (${how}): no job runs from now on. Press Ctrl-C, then start the sample again.\n`);
}
