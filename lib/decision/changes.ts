import type { SemaphoreDefinition } from './definition.js';
import type { Expiring, StoredPermit } from './permit.js';
import { NOBODY } from './patterns/pattern.js';
import { type DefinitionChange, EMPTY_RECORD, type Pause, type SemaphoreRecord, type View, rewrite } from './record.js';

/**
 * The siblings of `decide`: pure functions that give the record's next text, or undefined when there is nothing to
 * change. All compare permits by id, never by name, so that what comes late can't hit someone else's permit.
 */

/** Frees one permit: by its holder (release) or by an operator (revoke). Idempotent. */
export function release(
  record: SemaphoreRecord,
  permitId: string,
  view: View,
  nonce: string,
): SemaphoreRecord | undefined {
  if (!record.permits.some((permit) => permit.id === permitId)) return undefined;
  const permits = record.permits.filter((permit) => permit.id !== permitId);
  return rewrite(record, { permits }, view, nonce);
}

/**
 * Frees one permit at a later moment, never later than it would have expired; at once where that moment is past. The
 * remainder has an id and an instance of its own, so that neither a late refresh nor the holder's next take finds it.
 *
 * @param notBefore cluster time in ms
 */
export function releaseAt(
  record: SemaphoreRecord,
  permitId: string,
  notBefore: number,
  view: View,
  nonce: string,
): SemaphoreRecord | undefined {
  const held = record.permits.find((permit) => permit.id === permitId);
  const expiresAt = Math.min(held?.expiresAt ?? 0, notBefore);
  // It may be over by cluster time and stand there still, until no clock says otherwise.
  if (!held || expiresAt <= view.now) return release(record, permitId, view, nonce);
  const ending = { expiresAt, duration: expiresAt - view.now, asked: undefined };
  const kept = { ...held, ...ending, id: `released-${nonce}`, instance: RELEASED };
  return rewrite(record, { permits: record.permits.map((each) => (each === held ? kept : each)) }, view, nonce);
}

/** The instance of a permit that was released and lasts on until a moment that its holder named. */
const RELEASED = 'released';

/** Drops permits that expired without being released, so that everybody sees the slots free. */
export function expire(record: SemaphoreRecord, view: View, nonce: string): SemaphoreRecord | undefined {
  return expired(record, view).length > 0 ? rewrite(record, {}, view, nonce) : undefined;
}

/** The permits that {@link expire} would drop. */
export function expired(record: SemaphoreRecord, view: View): StoredPermit[] {
  return record.permits.filter((permit) => view.isExpired(permit));
}

/** Puts another definition in force. The permits stay: surplus ones run out, others obey it from their next refresh. */
export function edit(
  record: SemaphoreRecord,
  definition: SemaphoreDefinition,
  change: DefinitionChange,
  view: View,
  nonce: string,
): SemaphoreRecord {
  const changes = defined(definition, record.pause);
  return rewrite(record, { ...changes, change, revision: record.revision + 1 }, view, nonce);
}

/** What is paused stays so: another group pattern is for afterwards. */
export function defined(definition: SemaphoreDefinition, pause: Pause | undefined) {
  if (!pause) return { definition };
  const { groupPattern } = definition;
  return { definition: { ...definition, groupPattern: NOBODY }, pause: { ...pause, groupPattern } };
}

/**
 * Lets no group through from now on, and remembers the pattern. Runs that go on may finish.
 *
 * @returns undefined when it is paused already, or was removed
 */
export function pause(
  record: SemaphoreRecord,
  change: DefinitionChange,
  view: View,
  nonce: string,
): SemaphoreRecord | undefined {
  const { definition } = record;
  if (!definition || record.pause) return undefined;
  const { groupPattern } = definition;
  const { by, at, reason } = change;
  const changes = { definition: { ...definition, groupPattern: NOBODY }, pause: { by, at, reason, groupPattern } };
  return rewrite(record, { ...changes, change, revision: record.revision + 1 }, view, nonce);
}

/** Puts the remembered group pattern back in force. @returns undefined when it is not paused */
export function resume(
  record: SemaphoreRecord,
  change: DefinitionChange,
  view: View,
  nonce: string,
): SemaphoreRecord | undefined {
  const definition = intendedDefinition(record);
  if (!definition || !record.pause) return undefined;
  return rewrite(record, { definition, pause: undefined, change, revision: record.revision + 1 }, view, nonce);
}

/** The definition as it is when nobody pauses it. */
export function intendedDefinition({
  definition,
  pause,
}: Pick<SemaphoreRecord, 'definition' | 'pause'>): SemaphoreDefinition | undefined {
  return definition && pause ? { ...definition, groupPattern: pause.groupPattern } : definition;
}

/** Takes the definition away and every permit with it; what remains remembers token and revision. */
export function remove(
  record: SemaphoreRecord,
  change: DefinitionChange,
  view: View,
  nonce: string,
): SemaphoreRecord | undefined {
  if (!record.definition) return undefined;
  const changes = { definition: undefined, pause: undefined, permits: [], change };
  return rewrite(record, { ...changes, revision: record.revision + 1 }, view, nonce);
}

/**
 * Puts back a record that the store lost, as far as this node knew it, with a grace in which nobody new gets a permit:
 * a holder that this node never heard of may still be at work, for as long as a permit can last.
 *
 * @param found what stands in its place, if anything: someone who knew less may have written on. What is put back
 *   must not be behind it in any respect, or the two nodes would go on restoring, each its own.
 */
export function restore(
  known: SemaphoreRecord,
  found: SemaphoreRecord | undefined,
  view: View,
  nonce: string,
): SemaphoreRecord {
  const merged = found ? merge(known, found) : known;
  // Also those whose slot another one has in the merged record: their holders may be the ones still at work.
  const permits = [...known.permits, ...(found?.permits ?? [])];
  const durations = [known, found].map((record) => record?.definition?.duration ?? 0);
  // Also what a permit keeps: its latest refresh may have been for less, and the next one is not.
  const longest = Math.max(...durations, ...permits.flatMap(({ duration, asked }) => [duration, asked?.duration ?? 0]));
  // A grace that goes on stands for holders that stand nowhere else any more.
  const graces = [known, found].flatMap((record) => record?.grace ?? []);
  const graceUntil = Math.max(view.now + longest, ...[...permits, ...graces].map(({ expiresAt }) => expiresAt));
  const grace: Expiring = { id: `grace-${nonce}`, expiresAt: graceUntil, duration: graceUntil - view.now };
  return rewrite(merged, { grace }, view, nonce);
}

/** What somebody made of a semaphore, without its permits. */
export type Archivable = Pick<SemaphoreRecord, 'revision' | 'definition' | 'change' | 'pause'>;

/**
 * Puts back what was archived of a semaphore that the store lost, or has in an earlier revision.
 *
 * @param found what stands in its place, if anything; its permits stay, unless the semaphore was removed
 * @returns undefined when what stands there is as far
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

/** Of each the furthest; in a slot that was granted twice the permit with the higher token. */
function merge(known: SemaphoreRecord, found: SemaphoreRecord): SemaphoreRecord {
  const [newer, older] = found.revision > known.revision ? [found, known] : [known, found];
  const bySlot = new Map<number, StoredPermit>();
  for (const permit of [...older.permits, ...newer.permits]) {
    const rival = bySlot.get(permit.slot);
    if (!rival || isFurther(permit, rival)) bySlot.set(permit.slot, permit);
  }
  return {
    ...newer,
    seq: Math.max(known.seq, found.seq),
    lastToken: Math.max(known.lastToken, found.lastToken),
    permits: [...bySlot.values()],
  };
}

function isFurther(permit: StoredPermit, rival: StoredPermit): boolean {
  return permit.token === rival.token ? permit.expiresAt > rival.expiresAt : permit.token > rival.token;
}
