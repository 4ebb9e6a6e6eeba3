import type * as promises from 'node:fs/promises';

/** The calls of the file system that are used: tests put a failing one in its place. */
export type Files = Pick<
  typeof promises,
  'mkdir' | 'open' | 'readFile' | 'readlink' | 'realpath' | 'rename' | 'rm' | 'stat'
>;

export const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';
