import { dirname, join, resolve } from 'node:path';
import { type Files, isMissing } from './files.js';

/** Mode of new files: names, groups and reasons are for the application's user alone. */
const OWNER_ONLY = 0o600;

/**
 * Replaces the text of the file at `path`: a reader, also after the power failed, finds the old text or the new one,
 * never a part of it.
 *
 * @param folder on the same file system, and this writer's own
 */
export async function writeWhole(files: Files, path: string, folder: string, text: string): Promise<void> {
  const draft = join(folder, `draft-${Math.random().toString(36).slice(2)}`);
  await flushed(files, draft, 'wx', (handle) => handle.writeFile(text));
  await files.rename(draft, path);
  // A rename is a change of the folder, which has to reach the disk by itself. Windows has no such thing.
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
 * The path of the file that a path leads to through symbolic links, also of one that is not there yet. A rename to the
 * link itself would replace the link: what stands behind it (a mounted volume) would never get the text.
 *
 * @throws the error of the file system, ELOOP where links lead in a circle
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

/** @returns undefined when nothing, or something else than a link, stands there */
async function linkAt(files: Files, path: string): Promise<string | undefined> {
  try {
    return await files.readlink(path);
  } catch (error) {
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === 'EINVAL') return undefined;
    throw error;
  }
}
