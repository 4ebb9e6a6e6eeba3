import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Bug } from './bug.js';

export const ROOT = new URL('../../../', import.meta.url);

/** The changed text of each source file that a bug changes, by the file's path. */
export type SeededSources = Record<string, string>;

/**
 * Puts a bug into the sources, without writing them.
 *
 * @throws Error when a patch does not fit any more: update the bug together with the source
 */
export function seededSources({ name, patches }: Bug): SeededSources {
  const sources: SeededSources = {};
  for (const { file, find, replace } of patches) {
    const path = fileURLToPath(new URL(file, ROOT));
    const source = sources[path] ?? readFileSync(path, 'utf8');
    const places = source.split(find).length - 1;
    if (places !== 1) {
      throw new Error(
        `verification/proof/bugs: the patch of "${name}" fits ${places} places of ${file}, not one. Update the patch:\n${find}`,
      );
    }
    // A function, so that `$` stands for itself.
    sources[path] = source.replace(find, () => replace);
  }
  return sources;
}
