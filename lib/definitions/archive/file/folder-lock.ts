import { systemClock } from '../../../async/node-clock.js';
import { pause } from '../../../async/pause.js';
import type { Files } from './files.js';

/** ms; a writer holds the lock for a few, unless its disk stalls. */
const STALE = 3000;
const RETRY = 20;

/**
 * Lets one process at a time do `work`, which may use the folder `path`: it is made for this process alone and removed
 * afterwards with all that is in it.
 *
 * A folder that a dead process left behind is recognised by watching: it stays the same for 3 s, by our own clock. If
 * that process only slept, it finds its folder and its draft gone, and fails: it can't put half a text in place.
 */
export async function withFolder<T>(files: Files, path: string, work: () => Promise<T>): Promise<T> {
  await take(files, path);
  try {
    return await work();
  } finally {
    await files.rm(path, { recursive: true, force: true });
  }
}

async function take(files: Files, path: string): Promise<void> {
  let seen: string | undefined;
  let since = systemClock.monotonic();
  while (!(await isMade(files, path))) {
    const there = await identityOf(files, path);
    if (there !== seen) [seen, since] = [there, systemClock.monotonic()];
    else if (systemClock.monotonic() - since > STALE) await files.rm(path, { recursive: true, force: true });
    await pause(systemClock, RETRY * (0.5 + Math.random()));
  }
}

async function isMade(files: Files, path: string): Promise<boolean> {
  try {
    await files.mkdir(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** @returns undefined when it is gone */
async function identityOf(files: Files, path: string): Promise<string | undefined> {
  try {
    const { ino, ctimeMs } = await files.stat(path);
    return `${ino} ${ctimeMs}`;
  } catch {
    return undefined;
  }
}
