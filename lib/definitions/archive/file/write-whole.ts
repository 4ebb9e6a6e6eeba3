import { dirname, join } from 'node:path';
import type { Files } from './files.js';

/** Mode of what is made: names, groups and reasons are for the application's user alone. */
const OWNER_ONLY = 0o600;

/**
 * Puts a text in the place of the file at `path`: whoever reads it, also after the power failed, finds the old text or
 * the new one, never a part of it.
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
