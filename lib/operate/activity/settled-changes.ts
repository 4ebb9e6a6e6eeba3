import type { AuditEntry } from '../../core/context/answers.js';

/** Entries of the audit log in their order, and those of them about which only the record of the semaphore may tell. */
interface Settled {
  readonly settled: AuditEntry[];
  readonly open: readonly AuditEntry[];
}

/**
 * Settles changes with an unknown outcome by the other entries of their semaphore. Pure.
 *
 * | another entry of the semaphore              | the change with the unknown outcome          |
 * | ------------------------------------------- | -------------------------------------------- |
 * | follows it                                  | was made                                     |
 * | was made, and has its revision              | was not made: the other one has taken its place |
 * | has a higher revision                       | stays unknown: entries between them are missing |
 * | none of these                               | may be the last change: the record tells     |
 *
 * A change without a revision, as an order of an allocation group, stays unknown.
 */
export function settledChanges(log: readonly AuditEntry[]): Settled {
  const unknown = log.filter(({ outcome }) => outcome === 'unknown');
  if (unknown.length === 0) return { settled: [...log], open: [] };
  const followed = new Set(log.map(({ follows }) => follows));
  const names = new Set(unknown.map(({ semaphore }) => semaphore));
  const last = new Map<string, number>();
  const taken = new Set<string>();
  for (const { semaphore, revision = 0, outcome } of log) {
    if (outcome !== undefined || !names.has(semaphore)) continue;
    taken.add(`${revision} ${semaphore}`);
    last.set(semaphore, Math.max(revision, last.get(semaphore) ?? 0));
  }
  const isTaken = ({ semaphore, revision }: AuditEntry) =>
    revision !== undefined && taken.has(`${revision} ${semaphore}`);
  const settled = log.map((entry) => {
    if (entry.outcome !== 'unknown') return entry;
    if (followed.has(entry.id)) return asMade(entry);
    return isTaken(entry) ? { ...entry, outcome: 'not-made' as const } : entry;
  });
  const isOpen = ({ outcome, semaphore, revision = 0 }: AuditEntry) =>
    outcome === 'unknown' && revision > (last.get(semaphore) ?? 0);
  return { settled, open: settled.filter(isOpen) };
}

/** The entry without its outcome. */
export function asMade({ outcome: _outcome, ...entry }: AuditEntry): AuditEntry {
  return entry;
}
