import type { SemaphoreDefinition, StoredPermit } from './answers.js';
import type { Expiring } from './permit.js';
import { EMPTY_RECORD, type SemaphoreRecord, type View, isActive, rewrite } from './record.js';
import { LATEST, hasRoom } from './stored-values.js';
import { nextToken } from './token.js';

/**
 * Recovery of lost data. If a node finds a record missing, or older than its own copy, it writes the record again:
 *
 *     store loses data    restore()                        grace.expiresAt
 *           |                 |                                   |
 *     ------|-- (missing) ----|----------- grace -----------------|---- normal grants ------>
 *                             |  only a holder whose own lease    |
 *                             |  still runs may put its permit    |
 *                             |  back                             |
 *
 * The grace lasts as long as the longest permit that any holder may still have. Tokens still grow after the loss,
 * because a new token is never below cluster time (`nextToken`).
 */

/**
 * Restores a record that the store lost, from this node's copy. In the grace no new holder gets a permit, because a
 * holder that this node never saw may still work, for as long as a permit can last.
 *
 * @param found the record that the store has, if any: a node with an older copy may have written it. The restored record
 *   must not be behind `found` in any field. Otherwise the two nodes would overwrite each other's copy again and again.
 */
export function restore(
  known: SemaphoreRecord,
  found: SemaphoreRecord | undefined,
  view: View,
  nonce: string,
): SemaphoreRecord {
  const merged = found ? merge(known, found) : known;
  // Includes permits that the merged record drops because of a double slot: their holders may still work.
  const permits = [...known.permits, ...(found?.permits ?? [])];
  const durations = [known, found].map((record) => record?.definition?.duration ?? 0);
  // Includes the duration that a permit keeps: its last refresh may have been shorter, but the next one is not.
  const asked = permits.map((permit) => permit.asked?.duration ?? 0);
  // A grace that has not ended protects holders that no record contains any more.
  const graces = [known, found].flatMap((record) => record?.grace ?? []);
  const stamped = Math.max(view.now, known.at, found?.at ?? 0);
  const grace = graceFor([...durations, ...asked], [...permits, ...graces], stamped, nonce);
  const restored = rewrite(merged, { grace }, view, nonce);
  return isActive(restored) ? restored : withoutOrigin(restored);
}

/**
 * A new grace that outlasts leases. A lease that was stamped by a clock ahead of this node's ends far ahead, but lasts no
 * longer than its duration: so does the grace. A grace among the leases begins again: no clock surely tells what is left
 * of it.
 *
 * @param durations that unknown leases may have, in ms
 * @param now the highest cluster time that this node knows of, in ms: it may not have heard the clock that is ahead
 */
export function graceFor(
  durations: readonly number[],
  leases: readonly Expiring[],
  now: number,
  nonce: string,
): Expiring {
  const duration = Math.max(...durations, ...leases.map((lease) => lease.duration));
  const expiresAt = Math.min(LATEST, Math.max(now + duration, ...leases.map((lease) => lease.expiresAt)));
  return { id: `grace-${nonce}`, expiresAt, duration };
}

/**
 * A node that saw a record only while it was pending can't know whether it became active and was granted since, and has
 * no duration for the grace. Without the origin, the record gets a grace when it becomes active (`claims.ts`).
 */
function withoutOrigin(record: SemaphoreRecord): SemaphoreRecord {
  const { origin: _, ...rest } = record;
  return rest;
}

/**
 * A record in the place of one that can't be read. The counts begin at cluster time: no node that knew the record before it
 * was damaged has a further copy, and no archive a higher revision, so nothing undoes what the operator does next.
 *
 * @param known this node's copy, if it has one; its definition and permits come back
 * @param definition if the copy has none
 */
export function replaceUnreadable(
  known: SemaphoreRecord | undefined,
  definition: SemaphoreDefinition,
  view: View,
  nonce: string,
): SemaphoreRecord {
  const former = known && hasRoom(known) ? known : EMPTY_RECORD;
  const counted = {
    ...former,
    definition: former.definition ?? definition,
    seq: Math.max(former.seq, Math.floor(view.now)),
    revision: Math.max(former.revision, Math.floor(view.now / 1000)),
    lastToken: nextToken(former.lastToken, view.now),
  };
  return restore(counted, undefined, view, nonce);
}

/** The part of a record that an archive keeps: the definition and its last change, without permits. */
type Archivable = Pick<SemaphoreRecord, 'revision' | 'definition' | 'source' | 'fingerprint' | 'change' | 'pause'>;

/** A semaphore as people last changed it, without its permits. It has no definition if people removed it. */
export interface ArchivedDefinition extends Archivable {
  /** Name of the semaphore. */
  readonly name: string;
}

/**
 * Restores the archived definition of a semaphore, if the store lost the record or has an earlier revision.
 *
 * @param found the record that the store has, if any; its permits stay, unless the semaphore was removed
 * @returns undefined if the revision of `found` is not lower
 */
export function reinstate(
  archived: Archivable,
  found: SemaphoreRecord | undefined,
  view: View,
  nonce: string,
): SemaphoreRecord | undefined {
  if (found && found.revision >= archived.revision) return undefined;
  const { revision, definition, source = 'operator', fingerprint, change, pause } = archived;
  const permits = definition ? (found?.permits ?? []) : [];
  const before = found ?? EMPTY_RECORD;
  const origin = { source, ...(fingerprint !== undefined && { fingerprint }) };
  return rewrite(before, { revision, definition, ...origin, change, pause, permits }, view, nonce);
}

/** Merges two versions of a record: the higher counters, the newer definition, and the permits of both. */
function merge(known: SemaphoreRecord, found: SemaphoreRecord): SemaphoreRecord {
  const [newer, older] = found.revision > known.revision ? [found, known] : [known, found];
  return {
    ...newer,
    seq: Math.max(known.seq, found.seq),
    lastToken: Math.max(known.lastToken, found.lastToken),
    permits: merged(newer.permits, older.permits),
  };
}

/** Merges the permits of two versions of a record. If both have a permit in the same slot, the higher token wins. */
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
