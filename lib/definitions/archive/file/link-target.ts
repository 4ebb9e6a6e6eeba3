import { dirname, resolve } from 'node:path';
import { type Files, isMissing } from './files.js';

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
