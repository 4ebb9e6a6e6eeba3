import type { SemaphoreDefinition, AskedDuration, StoredPermit } from './answers.js';
import type { DenialReason } from './denial.js';
import { matchersOf } from './matchers.js';
import { askedBy, keptDuration, longerAsked, stillAsked } from './kept-duration.js';
import type { Expiring, Preference } from './permit.js';
import { type SemaphoreRecord, type View, graceIn, holdersIn, rewrite } from './record.js';
import { nextToken } from './token.js';

/** A request for a permit: the caller, and the permit that it still holds. */
export interface AcquireRequest {
  readonly instance: string;
  /** The user of the permit in that process; usually the instance itself. */
  readonly holder: string;
  readonly acquirer: string;
  readonly group: string;
  /** Id of a new permit. All attempts of one call use the same id, so that a late success is recognised. */
  readonly permitId: string;
  /** Nonce of the next record, if the decision makes one. */
  readonly nonce: string;
  /** The permit that this holder still has by its own clocks. It may not claim any other permit in its name. */
  readonly held?: StoredPermit;
  /**
   * ms for which the holder still relies on `held`, tolerance included. A refresh never writes a shorter time, even if
   * cluster time jumped ahead: until the answer arrives, the holder relies on the permit as it was.
   */
  readonly heldFor?: number;
  /** Whether the run that took the permit still goes on. It may finish even if the patterns no longer match (drain). */
  readonly running?: boolean;
  /** Only refresh the held permit; never grant a new one. So a lost permit stays lost. */
  readonly onlyRefresh?: boolean;
  /**
   * Duration that the call asks for, in ms. The permit keeps it for later refreshes. With `onlyRefresh` it applies to
   * this refresh only. If absent, the duration that the permit keeps applies, or else the definition's.
   */
  readonly duration?: number;
}

export type Decision =
  | { readonly outcome: 'granted' | 'refreshed'; readonly permit: StoredPermit; readonly record: SemaphoreRecord }
  | { readonly outcome: 'denied'; readonly reason: DenialReason; readonly holders: readonly StoredPermit[] };

/**
 * Decides whether a node gets a permit. Pure: the same record, request and view always give the same answer. The first
 * row that applies decides. The order is part of the contract.
 *
 * |   | the record                                           | the request                        | decision                   |
 * | - | ---------------------------------------------------- | ---------------------------------- | -------------------------- |
 * | 1 | is missing, or has no definition                     |                                    | `no-definition`            |
 * | 2 | `groupPattern` does not match                        | no run under way with its permit   | `group`, or `paused`       |
 * | 3 | `acquirerPattern` does not match                     | no run under way with its permit   | `acquirer`, or `paused`    |
 * | 4 | is in grace after lost data                          | holds no permit by its own clocks  | `recovering`               |
 * |   | is in grace                                          | holds one                          | refreshed; `permit-lost` when a higher token has its slot |
 * | 5 | has the permit of this holder                        | its slot was edited away           | `no-permit`                |
 * |   | has the permit of this holder                        |                                    | refreshed                  |
 * | 6 | lacks it                                             | `onlyRefresh`                      | `permit-lost`              |
 * | 7 | has as many unexpired permits as `permits`           |                                    | `no-permit`                |
 * | 8 | keeps the next grant for one process                 | comes from another process         | `other-preferred`          |
 * | 9 | has a free slot                                      |                                    | granted: lowest free slot  |
 */
export function decide(record: SemaphoreRecord | undefined, request: AcquireRequest, view: View): Decision {
  const definition = record?.definition;
  if (!record || !definition) return denied('no-definition', record, view);
  const mismatch = isDraining(request) ? undefined : mismatchOf(definition, request);
  if (mismatch) return denied(record.pause ? 'paused' : mismatch, record, view);
  if (graceIn(record, view)) return reassert(record, definition, request, view);
  const held = ownPermit(record, request);
  if (held && !mayKeep(held, definition, request)) return denied('no-permit', record, view);
  if (held) return refreshed(record, definition, held, request, view);
  if (request.onlyRefresh) return denied('permit-lost', record, view);
  return grant(record, definition, request, view);
}

/** The first pattern that does not match the node. */
export function mismatchOf(
  definition: SemaphoreDefinition,
  node: { group: string; acquirer: string },
): 'group' | 'acquirer' | undefined {
  const matchers = matchersOf(definition);
  if (!matchers.group(node.group)) return 'group';
  return matchers.acquirer(node.acquirer) ? undefined : 'acquirer';
}

function isDraining(request: AcquireRequest): boolean {
  return request.running === true && request.held !== undefined;
}

/** Includes a permit that an earlier attempt of the same call was granted, if the answer was lost. */
function ownPermit(record: SemaphoreRecord, request: AcquireRequest): StoredPermit | undefined {
  return record.permits.find(
    (permit) => isOwn(permit, request) && (permit.id === request.held?.id || permit.id === request.permitId),
  );
}

function isOwn(permit: StoredPermit, request: AcquireRequest): boolean {
  return permit.instance === request.instance && permit.holder === request.holder;
}

/**
 * After an edit to fewer permits, permits in the highest slots may not be refreshed. With 0 permits, a run may finish.
 */
function mayKeep(held: StoredPermit, definition: SemaphoreDefinition, request: AcquireRequest): boolean {
  return held.slot < definition.permits || (definition.permits === 0 && isDraining(request));
}

function refreshed(
  record: SemaphoreRecord,
  definition: SemaphoreDefinition,
  held: StoredPermit,
  request: AcquireRequest,
  view: View,
): Decision {
  const asked = askedNow(held, definition, request);
  const wanted = request.duration ?? keptDuration(asked, definition);
  const permit = lasting(held, {
    ...renewed(held, Math.max(wanted, Math.ceil(request.heldFor ?? 0)), request, view),
    asked,
  });
  const permits = record.permits.map((other) => (other.id === held.id ? permit : other));
  const outcome = held.id === request.held?.id ? 'refreshed' : 'granted';
  return { outcome, permit, record: rewrite(record, { permits }, view, request.nonce) };
}

/**
 * The end of a refreshed permit. Never earlier than before: an extension stays, and the holder's own time never ends
 * after the record's. And never the same as before: other nodes notice by it that the holder's time begins again
 * (LeaseObservations).
 *
 * If a clock that stamped the permit was ahead of this node's, only the end stays ahead, until the clock has caught up.
 * The permit lasts no longer by that. Then the end does not tell two refreshes of one text apart, of which the store
 * lost one: a nonce does.
 */
function renewed(held: Expiring, duration: number, { nonce }: AcquireRequest, { now }: View): Omit<Expiring, 'id'> {
  const expiresAt = now + duration;
  return expiresAt > held.expiresAt ? { expiresAt, duration } : { expiresAt: held.expiresAt + 1, duration, nonce };
}

/** Copies a permit with a new end. Not a spread: that took a sixth of the time of a refresh. */
function lasting(
  { id, slot, token, instance, holder, acquirer, group, grantedAt }: StoredPermit,
  { expiresAt, duration, nonce, asked }: Pick<StoredPermit, 'expiresAt' | 'duration' | 'nonce' | 'asked'>,
): StoredPermit {
  const permit = { id, slot, token, instance, holder, acquirer, group, grantedAt, expiresAt, duration, asked };
  return nonce === undefined ? permit : { ...permit, nonce };
}

/** Several uses share one permit, and the longest of their durations counts. An extension applies only once. */
function askedNow(
  held: StoredPermit,
  definition: SemaphoreDefinition,
  request: AcquireRequest,
): AskedDuration | undefined {
  const kept = stillAsked(held.asked, definition);
  return request.onlyRefresh ? kept : longerAsked(kept, askedBy(request.duration, definition), definition);
}

function grant(
  record: SemaphoreRecord,
  definition: SemaphoreDefinition,
  request: AcquireRequest,
  view: View,
): Decision {
  // The record may contain a permit that this holder lost, or that was granted too late. The holder does not use it.
  const others = record.permits.filter((permit) => !isOwn(permit, request) && !view.isExpired(permit));
  const slot = freeSlot(others, definition.permits);
  if (slot === undefined) return denied('no-permit', record, view);
  if (isKeptForAnother(record, request, view)) return denied('other-preferred', record, view);
  const permit = newPermit(record, definition, request, slot, view);
  const changes = { permits: [...others, permit], lastToken: permit.token, preference: undefined };
  return { outcome: 'granted', permit, record: rewrite(record, changes, view, request.nonce) };
}

function isKeptForAnother({ preference }: SemaphoreRecord, { instance }: AcquireRequest, view: View): boolean {
  return preference !== undefined && !view.isExpired(preference) && isKeptFrom(preference, instance);
}

/** Whether a preference that has not expired keeps the next grant from a process. */
export function isKeptFrom(preference: Pick<Preference, 'instance' | 'isExcluded'>, instance: string): boolean {
  return (preference.instance === instance) === (preference.isExcluded === true);
}

/** Checks the count too: after an edit to fewer permits, a low slot may be free while too many permits are held. */
function freeSlot(held: readonly StoredPermit[], permits: number): number | undefined {
  if (held.length >= permits) return undefined;
  if (held.length === 0) return 0;
  const taken = new Set(held.map((permit) => permit.slot));
  let slot = 0;
  while (taken.has(slot)) slot++;
  return slot;
}

function newPermit(
  record: SemaphoreRecord,
  definition: SemaphoreDefinition,
  request: AcquireRequest,
  slot: number,
  view: View,
): StoredPermit {
  const asked = askedBy(request.duration, definition);
  const duration = keptDuration(asked, definition);
  return {
    id: request.permitId,
    slot,
    token: nextToken(record.lastToken, view.now),
    instance: request.instance,
    holder: request.holder,
    acquirer: request.acquirer,
    group: request.group,
    grantedAt: view.now,
    expiresAt: view.now + duration,
    duration,
    asked,
  };
}

/**
 * Decides during the grace after lost data. A permit in the restored text proves nothing: before the data were lost, it
 * may have been released and its slot granted again. Only a holder whose own lease still runs may put its permit back.
 */
function reassert(
  record: SemaphoreRecord,
  definition: SemaphoreDefinition,
  request: AcquireRequest,
  view: View,
): Decision {
  const { held } = request;
  if (!held || !mayKeep(held, definition, request)) return denied('recovering', record, view);
  const rival = record.permits.find((permit) => permit.slot === held.slot && permit.id !== held.id);
  if (rival && rival.token > held.token) return denied('permit-lost', record, view);
  const written = record.permits.find((permit) => permit.id === held.id);
  // If the answer to a refresh was lost, the stored permit may end later than the holder knows.
  const permit = { ...held, expiresAt: Math.max(held.expiresAt, written?.expiresAt ?? 0) };
  const permits = [...record.permits.filter((other) => other.slot !== held.slot), permit];
  const lastToken = Math.max(record.lastToken, held.token);
  return refreshed({ ...record, permits, lastToken }, definition, permit, request, view);
}

function denied(reason: DenialReason, record: SemaphoreRecord | undefined, view: View): Decision {
  const holders = holdersIn(record, view);
  return { outcome: 'denied', reason, holders };
}
