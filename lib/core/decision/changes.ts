import type { SemaphoreDefinition, StoredPermit, DefinitionChange, Pause } from './answers.js';
import { type CodeDefinition, sameDefinition } from './definition.js';
import type { Preference } from './permit.js';
import { MATCHES_NONE } from './patterns/pattern.js';
import { type SemaphoreRecord, type View, rewrite } from './record.js';

/**
 * All changes of a record except grants and refreshes. Each is a pure function that returns the next record, or
 * undefined if there is nothing to change.
 *
 * | change      | made by             | permits                       | definition                  | revision |
 * | ----------- | ------------------- | ----------------------------- | --------------------------- | -------- |
 * | `release`   | holder, or operator | drops one                     |                             |          |
 * | `releaseAt` | holder              | shortens one                  |                             |          |
 * | `expire`    | any node            | drops the expired ones        |                             |          |
 * | `edit`      | operator            | stay                          | the new one, an operator's  | + 1      |
 * | `takeCode`  | operator, or node   | stay                          | that of code                | + 1      |
 * | `pause`     | operator            | stay                          | group pattern matches none  | + 1      |
 * | `resume`    | operator            | stay                          | group pattern comes back    | + 1      |
 * | `mark`      | operator            | stay                          |                             | + 1      |
 * | `remove`    | operator            | drops all                     | none                        | + 1      |
 * | `putBack`   | operator            | stay                          | a former one, or its pause  | + 1      |
 * | `prefer`    | leader, or operator | stay                          |                             |          |
 *
 * Permits are compared by id, never by name, so that a late change can't affect another holder's permit.
 */

/** Frees one permit, for its holder (release) or for an operator (revoke). Idempotent. */
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
 * Frees one permit at `notBefore`, or when it would have expired, if that is earlier. Frees it at once if that time has
 * passed. Until then the permit stays under a new id and a new instance, so that neither a late refresh nor the
 * holder's next request finds it.
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
  // A permit that is over by cluster time may still be in the record, because not all clocks agree yet.
  if (!held || expiresAt <= view.now) return release(record, permitId, view, nonce);
  // If a clock that stamped it is ahead, its end is far away, but it lasts no longer than its duration.
  const ending = { expiresAt, duration: Math.min(held.duration, expiresAt - view.now), asked: undefined };
  const kept = { ...held, ...ending, id: `released-${nonce}`, instance: RELEASED_INSTANCE };
  return rewrite(record, { permits: record.permits.map((each) => (each === held ? kept : each)) }, view, nonce);
}

/** The instance of a permit that was released, but lasts until the time that its holder asked for. */
export const RELEASED_INSTANCE = 'released';

/** Drops permits that expired without a release, so that all nodes see the free slots. */
export function expire(record: SemaphoreRecord, view: View, nonce: string): SemaphoreRecord | undefined {
  return expired(record, view).length > 0 ? rewrite(record, {}, view, nonce) : undefined;
}

/** The permits that {@link expire} would drop. */
export function expired(record: SemaphoreRecord, view: View): StoredPermit[] {
  return record.permits.filter((permit) => view.isExpired(permit));
}

/** Replaces the definition. All permits stay: surplus ones expire, the others follow it from their next refresh on. */
export function edit(
  record: SemaphoreRecord,
  definition: SemaphoreDefinition,
  change: DefinitionChange,
  view: View,
  nonce: string,
): SemaphoreRecord {
  const changes = { ...defined(definition, record.pause), source: 'operator' as const };
  return rewrite(record, { ...changes, change, revision: record.revision + 1 }, view, nonce);
}

/** Takes over the definition of code: a reset by an operator, or a node that follows its code. Permits stay as after an edit. */
export function adoptCode(
  record: SemaphoreRecord,
  { definition, fingerprint }: CodeDefinition,
  change: DefinitionChange,
  view: View,
  nonce: string,
): SemaphoreRecord {
  const changes = { ...defined(definition, record.pause), source: 'code' as const, fingerprint };
  return rewrite(record, { ...changes, change, revision: record.revision + 1 }, view, nonce);
}

/** A paused semaphore stays paused: the new group pattern applies after the pause. */
export function defined(definition: SemaphoreDefinition, pause: Pause | undefined) {
  if (!pause) return { definition };
  const { groupPattern } = definition;
  return { definition: { ...definition, groupPattern: MATCHES_NONE }, pause: { ...pause, groupPattern } };
}

/**
 * Replaces the group pattern by one that matches no group, and keeps the former pattern. Runs that have started may
 * finish.
 *
 * @returns undefined if the semaphore is already paused, or was removed
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

/** Ends a pause: the former group pattern applies again. @returns undefined if the semaphore is not paused */
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

/** Changes nothing but the revision, so that a change that was decided before finds a later one. */
export function bumpRevision(
  record: SemaphoreRecord,
  change: DefinitionChange,
  view: View,
  nonce: string,
): SemaphoreRecord {
  return rewrite(record, { change, revision: record.revision + 1 }, view, nonce);
}

/** The definition without the effect of a pause. */
export function intendedDefinition({
  definition,
  pause,
}: Pick<SemaphoreRecord, 'definition' | 'pause'>): SemaphoreDefinition | undefined {
  return definition && pause ? { ...definition, groupPattern: pause.groupPattern } : definition;
}

/** Removes the definition and all permits. The record stays, with its highest token and its revision. */
export function remove(
  record: SemaphoreRecord,
  change: DefinitionChange,
  view: View,
  nonce: string,
): SemaphoreRecord | undefined {
  if (!record.definition) return undefined;
  const changes = { definition: undefined, pause: undefined, source: 'operator' as const, permits: [], change };
  return rewrite(record, { ...changes, revision: record.revision + 1 }, view, nonce);
}

/** The definition and the pause that a record had before a change. */
export interface FormerState {
  /** The definition without the effect of a pause; absent if there was none. */
  readonly definition?: SemaphoreDefinition | undefined;
  readonly pause?: Pause | undefined;
}

/**
 * Puts a former definition and its pause back. Permits stay, unless there was no definition: then it removes the
 * present one with its permits. Another definition than the present one is an operator's from then on, also if it once
 * came from code: only a reset follows code again.
 *
 * @returns undefined if the record is so already
 */
export function putBack(
  record: SemaphoreRecord,
  { definition, pause: former }: FormerState,
  change: DefinitionChange,
  view: View,
  nonce: string,
): SemaphoreRecord | undefined {
  if (!definition) return remove(record, change, view, nonce);
  const present = intendedDefinition(record);
  const isPaused = record.pause !== undefined;
  const isSame = present !== undefined && sameDefinition(present, definition);
  if (isSame && isPaused === (former !== undefined)) return undefined;
  const source = isSame ? record.source : 'operator';
  const changes = { pause: undefined, ...defined(definition, former), ...(source && { source }) };
  return rewrite(record, { ...changes, change, revision: record.revision + 1 }, view, nonce);
}

/** Keeps the next grant for one process, or for all but one. Replaces an earlier preference. */
export function prefer(record: SemaphoreRecord, preference: Preference, view: View, nonce: string): SemaphoreRecord {
  return rewrite(record, { preference }, view, nonce);
}
