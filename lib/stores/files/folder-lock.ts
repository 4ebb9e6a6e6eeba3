import type * as promises from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../core/async/node-clock.js';
import { pause } from '../../core/async/pause.js';

/** The file system calls that are used. Tests replace them with failing ones. */
export type Files = Pick<
  typeof promises,
  'mkdir' | 'open' | 'readFile' | 'readdir' | 'rename' | 'rm' | 'rmdir' | 'stat'
>;

/** ms after which an unchanged lock is removed. A writer needs only a few ms, unless its disk stalls. */
const STALE = 3000;
const RETRY = 20;

interface Draft {
  /** Folder that stands for the lock. */
  readonly lock: string;
  /** ms to wait for the lock. */
  readonly patience: number;
  /** Writes the draft to a path in the lock. */
  readonly write: (path: string) => Promise<void>;
}

/**
 * Runs `work` in one process at a time, with a draft that this process wrote into the lock. `work` may rename the draft.
 *
 * A lock that does not change for 3 s, by this process's own clock, counts as that of a dead process, and is removed with the
 * draft in it. If its owner only slept, its draft is gone, and its rename fails. An owner that slept before it wrote the draft
 * may find itself in the lock of another process. So the lock counts only if it has no other draft: of two processes that
 * wrote into the same folder, at least the later one sees the draft of the other, and tries again.
 *
 * @throws Error if other processes have the lock for `patience` ms
 */
export async function withDraft<T>(
  files: Files,
  { lock, patience, write }: Draft,
  work: (path: string) => Promise<T>,
): Promise<T> {
  const until = systemClock.monotonic() + patience;
  const name = `draft-${Math.random().toString(36).slice(2)}`;
  const path = join(lock, name);
  for (;;) {
    await take(files, lock, until);
    try {
      await write(path);
      const all = await files.readdir(lock);
      if (all.length === 1 && all[0] === name) return await work(path);
    } finally {
      await files.rm(path, { force: true });
      // It stays if another process has its draft there. One that stays for another reason is removed as that of a dead process.
      await files.rmdir(lock).catch(() => undefined);
    }
    await pause(systemClock, RETRY * (0.5 + Math.random()));
  }
}

async function take(files: Files, lock: string, until: number): Promise<void> {
  let seen: string | undefined;
  let since = systemClock.monotonic();
  while (!(await isMade(files, lock))) {
    const now = systemClock.monotonic();
    if (now > until) throw new Error(`other processes have ${lock}: try again later`);
    const there = await identityOf(files, lock);
    if (there !== seen) [seen, since] = [there, now];
    else if (now - since > STALE) await files.rm(lock, { recursive: true, force: true });
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
    // Its owner has just removed it. Another error comes again when this process makes the folder.
    return undefined;
  }
}
