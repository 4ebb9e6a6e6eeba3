import type * as promises from 'node:fs/promises';
import { join } from 'node:path';

/** The file system calls that are used. Tests replace them with failing ones. */
export type Files = Pick<typeof promises, 'mkdir' | 'open' | 'readdir' | 'rm' | 'stat'>;

/** ms */
const DAY = 86_400_000;

/** A file of archived runs. */
export interface RunFile {
  readonly path: string;
  /** End of its day: ms since the epoch. */
  readonly end: number;
  /** Bytes. */
  readonly size: number;
  /** Last change: ms since the epoch. */
  readonly changedAt: number;
}

/** The UTC day of a time in ms: "2026-11-25". */
export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Name of a file. The instance is in it, so that each file has one writer. @param part from 1 */
export function nameOf(day: string, instance: string, part: number): string {
  return `runs-${day}-${instance}${part === 1 ? '' : `.${part}`}.jsonl`;
}

const NAME = /^runs-(\d{4}-\d\d-\d\d)-[^./]+(\.\d+)?\.jsonl$/;

/** The files of all processes in a folder, the oldest first. Other files are left out. */
export async function runFilesIn(folder: string, files: Files): Promise<RunFile[]> {
  const names = await files.readdir(folder).catch(ifMissing([]));
  const found: RunFile[] = [];
  for (const name of names) {
    const day = NAME.exec(name)?.[1];
    const path = join(folder, name);
    // Another process may remove it meanwhile.
    const there = day === undefined ? undefined : await files.stat(path).catch(ifMissing(undefined));
    if (there) found.push({ path, end: Date.parse(day!) + DAY, size: there.size, changedAt: there.mtimeMs });
  }
  return found.toSorted((one, other) => one.end - other.end || one.changedAt - other.changedAt);
}

/** Returns `value` in place of a file or folder that is missing. */
export function ifMissing<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT') return value;
    throw error;
  };
}
