import { dirname, join, resolve } from 'node:path';
import { type Files, isMissing } from './files.js';

/** Mode of new files: only the application's user may read names, groups and reasons. */
const OWNER_ONLY = 0o600;

/**
 * Replaces the text of the file at `path`. A reader finds either the old or the new text, never a part, even after a
 * power failure.
 *
 * @param folder on the same file system, used by this writer only
 */
export async function writeWhole(files: Files, path: string, folder: string, text: string): Promise<void> {
  const draft = join(folder, `draft-${Math.random().toString(36).slice(2)}`);
  await flushed(files, draft, 'wx', (handle) => handle.writeFile(text));
  await files.rename(draft, path);
  // A rename changes the folder, so the folder must be flushed to disk too. Windows can't do that.
  if (process.platform !== 'win32') await flushed(files, dirname(path), 'r');
}

type Handle = Awaited<ReturnType<Files['open']>>;

async function flushed(files: Files, path: string, flags: string, work?: (handle: Handle) => Promise<void>) {
  const handle = await files.open(path, flags, OWNER_ONLY);
  try {
    await work?.(handle);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Follows symbolic links to the real path of a file, which need not exist yet. Without this, a rename would replace the
 * link, and the file behind it (on a mounted volume) would never get the text.
 *
 * @throws the error of the file system; ELOOP if links form a circle
 */
export async function targetOf(files: Files, path: string): Promise<string> {
  try {
    return await files.realpath(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const next = await linkAt(files, path);
  return next === undefined ? path : targetOf(files, resolve(dirname(path), next));
}

/** @returns undefined if there is no file, or if it is not a link */
async function linkAt(files: Files, path: string): Promise<string | undefined> {
  try {
    return await files.readlink(path);
  } catch (error) {
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === 'EINVAL') return undefined;
    throw error;
  }
}
