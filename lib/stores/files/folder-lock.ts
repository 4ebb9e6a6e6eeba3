import type * as promises from 'node:fs/promises';
import { systemClock } from '../../core/async/node-clock.js';
import { pause } from '../../core/async/pause.js';

/** The file system calls that are used. Tests replace them with failing ones. */
export type Files = Pick<typeof promises, 'mkdir' | 'open' | 'readFile' | 'readdir' | 'rename' | 'rm' | 'stat'>;

/** ms after which an unchanged lock is removed. A writer needs only a few ms, unless its disk stalls. */
const STALE = 3000;
const RETRY = 20;

/**
 * Runs `work` in one process at a time. `work` may use the folder `path`, which is created for this process alone and
 * removed afterwards with its content.
 *
 * If the folder does not change for 3 s, by this process's own clock, its owner counts as dead, and the folder is
 * removed. If the owner only slept, its draft is gone and its rename fails. So it can't publish an incomplete text.
 */
export async function withFolder<T>(files: Files, path: string, work: (path: string) => Promise<T>): Promise<T> {
  await take(files, path);
  try {
    return await work(path);
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

/** @returns undefined if the folder is gone */
async function identityOf(files: Files, path: string): Promise<string | undefined> {
  try {
    const { ino, ctimeMs } = await files.stat(path);
    return `${ino} ${ctimeMs}`;
  } catch {
    return undefined;
  }
}
