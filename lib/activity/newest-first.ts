/** Which entries of a journal are wanted. */
export interface JournalQuery {
  /** Of this one alone. */
  readonly semaphore?: string | undefined;
  readonly limit: number;
}

/** Default size of the members' journals: entries of one semaphore may be far back. */
const ALL = 10_000;

/**
 * Reads the last matching entries, newest first.
 *
 * @param read gives the last ones, oldest first
 * @param only leaves out entries of semaphores for which it returns false
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
