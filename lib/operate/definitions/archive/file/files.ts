import type * as promises from 'node:fs/promises';

/** The file system calls that are used. Tests replace them with failing ones. */
export type Files = Pick<
  typeof promises,
  'mkdir' | 'open' | 'readFile' | 'readlink' | 'realpath' | 'rename' | 'rm' | 'stat'
>;

export const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';
