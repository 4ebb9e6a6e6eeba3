/** Selects entries of a journal. */
export interface JournalQuery {
  /** Only entries of this semaphore. Default: of all semaphores. */
  readonly semaphore?: string | undefined;
  /** Maximum number of entries. */
  readonly limit: number;
}

/** Default capacity of a journal. All of it is read, because entries of one semaphore may be far back. */
const ALL = 10_000;

/**
 * Reads the last matching entries, newest first.
 *
 * @param read returns the last `limit` entries, oldest first
 * @param only returns false for semaphores whose entries are left out
 */
export async function newestFirst<Entry extends { readonly semaphore: string }>(
  { semaphore, limit }: JournalQuery,
  read: (limit: number) => Promise<readonly Entry[]>,
  only?: (name: string) => boolean,
): Promise<Entry[]> {
  if (semaphore === undefined && !only) return (await read(limit)).toReversed();
  const isWanted = (name: string) => (semaphore === undefined || name === semaphore) && (!only || only(name));
  const entries = (await read(ALL)).filter((entry) => isWanted(entry.semaphore));
  return entries.slice(-limit).toReversed();
}
