import type * as promises from 'node:fs/promises';

/** What is asked of the file system: tests put a failing one in its place. */
export type Files = Pick<
  typeof promises,
  'mkdir' | 'open' | 'readFile' | 'readlink' | 'realpath' | 'rename' | 'rm' | 'stat'
>;

export const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';
