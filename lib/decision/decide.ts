import type { SemaphoreDefinition } from './definition.js';
import type { DenialReason } from './denial.js';
import { matchersOf } from './patterns/matchers.js';
import { askedBy, keptDuration, longerAsked, stillAsked } from './kept-duration.js';
import type { AskedDuration, StoredPermit } from './permit.js';
import { type SemaphoreRecord, type View, rewrite } from './record.js';
import { nextToken } from './token.js';

/** The caller, and the permit that it still holds. */
export interface AcquireRequest {
  readonly instance: string;
  /** The user of the permit in that process; usually the instance itself. */
  readonly holder: string;
  readonly acquirer: string;
  readonly group: string;
  /** The id that a new permit gets: the same in every attempt of one call, so that a late success is recognised. */
  readonly permitId: string;
  /** Of the record written, if one is. */
  readonly nonce: string;
  /** The permit that this holder still has by its own clocks. It may claim no other that the record holds in its name. */
  readonly held?: StoredPermit;
  /**
   * ms for which it still counts on that permit, tolerance included. A refresh never writes less, also when cluster
   * time jumped ahead: while the answer is under way the holder relies on the permit as it was.
   */
  readonly heldFor?: number;
  /** The run that took the permit is still under way: it may finish although the patterns no longer match (drain). */
  readonly running?: boolean;
  /** Refresh the held permit or nothing: a permit that was lost stays lost. */
  readonly onlyRefresh?: boolean;
  /**
   * Duration that the call asks for, in ms. The permit keeps it for later refreshes; with `onlyRefresh` it counts this
   * once. Absent: the one that the permit keeps, or the definition's.
   */
  readonly duration?: number;
}

export type Decision =
  | { readonly outcome: 'granted' | 'refreshed'; readonly permit: StoredPermit; readonly record: SemaphoreRecord }
  | { readonly outcome: 'denied'; readonly reason: DenialReason; readonly holders: readonly StoredPermit[] };

/**
 * Decides whether a node gets a permit. Pure: the same record, request and view always give the same answer. The first
 * row that applies decides; the order is part of the contract.
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
 * | 7 | has fewer unexpired permits than `permits`           |                                    | granted: lowest free slot  |
 * | 8 | has no free slot                                     |                                    | `no-permit`                |
 */
export function decide(record: SemaphoreRecord | undefined, request: AcquireRequest, view: View): Decision {
  const definition = record?.definition;
  if (!record || !definition) return denied('no-definition', record, view);
  const mismatch = isDraining(request) ? undefined : mismatchOf(definition, request);
  if (mismatch) return denied(record.pause ? 'paused' : mismatch, record, view);
  if (record.grace && !view.isExpired(record.grace)) return reassert(record, definition, request, view);
  const held = ownPermit(record, request);
  if (held && !mayKeep(held, definition, request)) return denied('no-permit', record, view);
  if (held) return refreshed(record, definition, held, request, view);
  if (request.onlyRefresh) return denied('permit-lost', record, view);
  return grant(record, definition, request, view);
}

/** The first pattern that keeps the node out. */
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

/** Also a permit of this very call, granted by an attempt whose answer was lost. */
function ownPermit(record: SemaphoreRecord, request: AcquireRequest): StoredPermit | undefined {
  return record.permits.find(
    (permit) => isOwn(permit, request) && (permit.id === request.held?.id || permit.id === request.permitId),
  );
}

function isOwn(permit: StoredPermit, request: AcquireRequest): boolean {
  return permit.instance === request.instance && permit.holder === request.holder;
}

/** After an edit to fewer permits the highest slots run out; after one to 0 (a pause) a run under way may finish. */
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
  // Never shortens: an extension stays, and the holder's own count never runs past the record's. Always grows, also while
  // cluster time stands still: other nodes see by `expiresAt` that the holder counts anew (LeaseObservations).
  const asked = askedNow(held, definition, request);
  const wanted = request.duration ?? keptDuration(asked, definition);
  const expiresAt = Math.max(held.expiresAt + 1, view.now + Math.max(wanted, Math.ceil(request.heldFor ?? 0)));
  const permit = lasting(held, { expiresAt, duration: expiresAt - view.now, asked });
  const permits = record.permits.map((other) => (other.id === held.id ? permit : other));
  const outcome = held.id === request.held?.id ? 'refreshed' : 'granted';
  return { outcome, permit, record: rewrite(record, { permits }, view, request.nonce) };
}

/** The same permit with another end. A literal: a spread of the permit took a sixth of a refresh. */
function lasting(
  { id, slot, token, instance, holder, acquirer, group, grantedAt }: StoredPermit,
  { expiresAt, duration, asked }: Pick<StoredPermit, 'expiresAt' | 'duration' | 'asked'>,
): StoredPermit {
  return { id, slot, token, instance, holder, acquirer, group, grantedAt, expiresAt, duration, asked };
}

/** Uses of one permit share it, and the longest of their durations counts; an extension is for once. */
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
  // A permit of this holder that it doesn't have by its own clocks was lost or came too late: it is not in use.
  const others = record.permits.filter((permit) => !isOwn(permit, request) && !view.isExpired(permit));
  const slot = freeSlot(others, definition.permits);
  if (slot === undefined) return denied('no-permit', record, view);
  const permit = newPermit(record, definition, request, slot, view);
  const changes = { permits: [...others, permit], lastToken: permit.token };
  return { outcome: 'granted', permit, record: rewrite(record, changes, view, request.nonce) };
}

/** The count matters beside the slot: after an edit to fewer permits a low slot may be free while too many are held. */
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
 * Decides in the grace after lost data. A permit in the restored text alone proves nothing: it may have been released
 * and its slot granted anew before the data were lost. Only a holder whose own lease has not ended may put its permit back.
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
  // A refresh whose answer was lost may have got further than the holder knows.
  const permit = { ...held, expiresAt: Math.max(held.expiresAt, written?.expiresAt ?? 0) };
  const permits = [...record.permits.filter((other) => other.slot !== held.slot), permit];
  const lastToken = Math.max(record.lastToken, held.token);
  return refreshed({ ...record, permits, lastToken }, definition, permit, request, view);
}

function denied(reason: DenialReason, record: SemaphoreRecord | undefined, view: View): Decision {
  const holders = record?.permits.filter((permit) => !view.isExpired(permit)) ?? [];
  return { outcome: 'denied', reason, holders };
}
