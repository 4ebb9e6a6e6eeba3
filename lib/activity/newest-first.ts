/** Which entries of a journal are wanted. */
export interface JournalQuery {
  /** Of this one alone. */
  readonly semaphore?: string | undefined;
  readonly limit: number;
}

/** As many as members keep unless their configuration says otherwise: the entries of one semaphore may lie far back. */
const ALL = 10_000;

/**
 * The last entries that were asked for, the newest first.
 *
 * @param read gives the last ones, oldest first
 * @param only leaves out entries of semaphores that it answers false for
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
