import * as fileSystem from 'node:fs/promises';
import { resolve } from 'node:path';
import { InvalidOptionsError, isOneLine, show } from '../../core/decision/index.js';
import type { ArchiveStore, OpenOptions } from '../../core/store/driver.js';
import { FilesDriver } from './files.driver.js';

/** ms to wait for the lock of another process, unless the caller says it. */
const PATIENCE = 5000;

/**
 * Keeps an archive in the files of a folder: for the option `persistence`. Creates the folder if it is missing. Nodes may
 * share one folder, or each host may have its own.
 *
 * @param folder relative to the working directory, or absolute
 * @throws InvalidOptionsError if it is not a path
 */
export function files(folder: string): ArchiveStore {
  if (typeof folder !== 'string' || folder === '' || !isOneLine(folder)) {
    throw new InvalidOptionsError("files()'s folder", [
      `${show(folder)} is not a path: give './gatekeeper-definitions'`,
    ]);
  }
  const path = resolve(folder);
  const open = ({ callTimeout = PATIENCE }: OpenOptions = {}) => new FilesDriver(path, fileSystem, callTimeout);
  return { kind: 'files', place: path, open };
}
