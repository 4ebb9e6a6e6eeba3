import type { SemaphoreDefinition } from './definition.js';
import type { StoredPermit } from './permit.js';
import { MATCHES_NONE } from './patterns/pattern.js';
import { type DefinitionChange, type Pause, type SemaphoreRecord, type View, rewrite } from './record.js';

/**
 * Every other change of a record than a grant: pure functions that return the next record, or undefined when there is
 * nothing to change.
 *
 * | change      | made by             | permits                       | definition                  | revision |
 * | ----------- | ------------------- | ----------------------------- | --------------------------- | -------- |
 * | `release`   | holder, or operator | drops one                     |                             |          |
 * | `releaseAt` | holder              | lets one expire at a moment   |                             |          |
 * | `expire`    | any node            | drops the expired ones        |                             |          |
 * | `edit`      | operator            | stay                          | the new one                 | + 1      |
 * | `pause`     | operator            | stay                          | group pattern matches none  | + 1      |
 * | `resume`    | operator            | stay                          | group pattern comes back    | + 1      |
 * | `remove`    | operator            | drops all                     | none                        | + 1      |
 *
 * Permits are compared by id, never by name, so that a change that comes late can't hit another holder's permit.
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
  // A permit may be over by cluster time and still stand in the record, until every clock agrees.
  if (!held || expiresAt <= view.now) return release(record, permitId, view, nonce);
  const ending = { expiresAt, duration: expiresAt - view.now, asked: undefined };
  const kept = { ...held, ...ending, id: `released-${nonce}`, instance: RELEASED };
  return rewrite(record, { permits: record.permits.map((each) => (each === held ? kept : each)) }, view, nonce);
}

/** The instance of a permit that was released and lasts until a moment that its holder named. */
const RELEASED = 'released';

/** Drops permits that expired without being released, so that all nodes see the slots free. */
export function expire(record: SemaphoreRecord, view: View, nonce: string): SemaphoreRecord | undefined {
  return expired(record, view).length > 0 ? rewrite(record, {}, view, nonce) : undefined;
}

/** The permits that {@link expire} would drop. */
export function expired(record: SemaphoreRecord, view: View): StoredPermit[] {
  return record.permits.filter((permit) => view.isExpired(permit));
}

/** Puts another definition in force. The permits stay: surplus ones run out, the others obey it from their next refresh. */
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

/** A paused semaphore stays paused: another group pattern is for the time after it. */
export function defined(definition: SemaphoreDefinition, pause: Pause | undefined) {
  if (!pause) return { definition };
  const { groupPattern } = definition;
  return { definition: { ...definition, groupPattern: MATCHES_NONE }, pause: { ...pause, groupPattern } };
}

/**
 * Lets no group through from now on, and remembers the pattern. Runs under way may finish.
 *
 * @returns undefined when the semaphore is paused already, or was removed
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
  const changes = {
    definition: { ...definition, groupPattern: MATCHES_NONE },
    pause: { by, at, reason, groupPattern },
  };
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

/** The definition as it is without a pause. */
export function intendedDefinition({
  definition,
  pause,
}: Pick<SemaphoreRecord, 'definition' | 'pause'>): SemaphoreDefinition | undefined {
  return definition && pause ? { ...definition, groupPattern: pause.groupPattern } : definition;
}

/** Takes the definition away and every permit with it; the record stays, with its token and revision. */
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
