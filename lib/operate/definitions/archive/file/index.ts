import * as files from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Persistence } from '../definition-archive.js';
import { InvalidOptionsError, isOneLine, show } from '../../../../core/decision/index.js';
import { FileArchive } from './file-archive.js';

/**
 * Keeps the definitions that people changed in a JSON file, so that edits, pauses and removals outlive a restart of the
 * whole cluster. Creates a missing folder. Nodes may share one file, or each host may have its own.
 *
 * @param path relative to the working directory, or absolute
 * @throws InvalidOptionsError if it is not a path
 */
export function fileArchive(path: string): Persistence {
  if (typeof path !== 'string' || path === '' || !isOneLine(path)) {
    throw new InvalidOptionsError("fileArchive()'s path", [
      `${show(path)} is not a path: give './gatekeeper-definitions.json'`,
    ]);
  }
  return { kind: 'file', open: () => new FileArchive(resolve(path), files) };
}
