import type { Expiring, StoredPermit } from './permit.js';
import { EMPTY_RECORD, type SemaphoreRecord, type View, rewrite } from './record.js';

/**
 * Lost data. A node that finds a record missing, or behind what it knew, writes it again:
 *
 *     store loses data    restore()                        grace.expiresAt
 *           |                 |                                   |
 *     ------|-- (missing) ----|----------- grace -----------------|---- grants as ever ---->
 *                             |  only a holder whose own lease    |
 *                             |  still runs re-asserts its permit |
 *
 * The grace lasts as long as the longest permit that any holder may still have. Tokens grow all the same: a new one is
 * never below cluster time (`nextToken`).
 */

/**
 * Puts back a record that the store lost, as far as this node knew it, with a grace in which no new holder gets a permit:
 * a holder that this node never heard of may still be at work, for as long as a permit can last.
 *
 * @param found the record in its place, if there is one: a node that knew less may have written on. The restored record
 *   must not be behind it in any respect, or the two nodes would go on restoring, each its own.
 */
export function restore(
  known: SemaphoreRecord,
  found: SemaphoreRecord | undefined,
  view: View,
  nonce: string,
): SemaphoreRecord {
  const merged = found ? merge(known, found) : known;
  // Also permits whose slot another one has in the merged record: their holders may be the ones still at work.
  const permits = [...known.permits, ...(found?.permits ?? [])];
  const durations = [known, found].map((record) => record?.definition?.duration ?? 0);
  // Also the duration that a permit keeps: its latest refresh may have been shorter, and the next one is not.
  const longest = Math.max(...durations, ...permits.flatMap(({ duration, asked }) => [duration, asked?.duration ?? 0]));
  // A grace under way stands for holders that no record names any more.
  const graces = [known, found].flatMap((record) => record?.grace ?? []);
  const graceUntil = Math.max(view.now + longest, ...[...permits, ...graces].map(({ expiresAt }) => expiresAt));
  const grace: Expiring = { id: `grace-${nonce}`, expiresAt: graceUntil, duration: graceUntil - view.now };
  return rewrite(merged, { grace }, view, nonce);
}

/** The part of a record that operators made, without its permits. */
export type Archivable = Pick<SemaphoreRecord, 'revision' | 'definition' | 'change' | 'pause'>;

/**
 * Puts back the archived definition of a semaphore that the store lost, or has in an earlier revision.
 *
 * @param found the record in its place, if there is one; its permits stay, unless the semaphore was removed
 * @returns undefined when its revision is not lower
 */
export function reinstate(
  archived: Archivable,
  found: SemaphoreRecord | undefined,
  view: View,
  nonce: string,
): SemaphoreRecord | undefined {
  if (found && found.revision >= archived.revision) return undefined;
  const { revision, definition, change, pause } = archived;
  const permits = definition ? (found?.permits ?? []) : [];
  const before = found ?? EMPTY_RECORD;
  return rewrite(before, { revision, definition, change, pause, permits }, view, nonce);
}

/** The higher of each number, the newer definition, and the permits of both. */
function merge(known: SemaphoreRecord, found: SemaphoreRecord): SemaphoreRecord {
  const [newer, older] = found.revision > known.revision ? [found, known] : [known, found];
  return {
    ...newer,
    seq: Math.max(known.seq, found.seq),
    lastToken: Math.max(known.lastToken, found.lastToken),
    permits: merged(newer.permits, older.permits),
  };
}

/** The permits of two versions of a record: in a slot that was granted twice the one with the higher token. */
export function merged(newer: readonly StoredPermit[], older: readonly StoredPermit[]): StoredPermit[] {
  const bySlot = new Map<number, StoredPermit>();
  for (const permit of [...older, ...newer]) {
    const rival = bySlot.get(permit.slot);
    if (!rival || isFurther(permit, rival)) bySlot.set(permit.slot, permit);
  }
  return [...bySlot.values()];
}

function isFurther(permit: StoredPermit, rival: StoredPermit): boolean {
  return permit.token === rival.token ? permit.expiresAt > rival.expiresAt : permit.token > rival.token;
}
