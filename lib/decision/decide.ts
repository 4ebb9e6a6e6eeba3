import type { SemaphoreDefinition } from './definition.js';
import type { DenialReason } from './denial.js';
import { matchersOf } from './patterns/matchers.js';
import { askedBy, keptDuration, longerAsked, stillAsked } from './kept-duration.js';
import type { AskedDuration, StoredPermit } from './permit.js';
import { type SemaphoreRecord, type View, rewrite } from './record.js';
import { nextToken } from './token.js';

/** Who asks, and what the asker still has. */
export interface AcquireRequest {
  readonly instance: string;
  /** Who in that process; usually the instance itself. */
  readonly holder: string;
  readonly acquirer: string;
  readonly group: string;
  /** The id that a new permit gets: the same in every attempt of one call, so that a late success is recognised. */
  readonly permitId: string;
  /** Of the record written, if one is. */
  readonly nonce: string;
  /** The permit that this holder still has by its own clocks. What the record says of others it may not claim. */
  readonly held?: StoredPermit;
  /**
   * ms for which it still counts on that permit, tolerance included. A refresh never writes less, also when cluster
   * time jumped ahead: while its answer is under way the holder goes on by what it had.
   */
  readonly heldFor?: number;
  /** The run that took the permit still goes on: it may finish although the patterns no longer match (drain). */
  readonly running?: boolean;
  /** Refresh what is held or nothing: a permit that was lost stays lost. */
  readonly onlyRefresh?: boolean;
  /**
   * ms. A call that takes a permit asks for it: the permit keeps it. With `onlyRefresh` it is for this once. Unless given,
   * the definition's, or the one that the permit was taken with.
   */
  readonly duration?: number;
}

export type Decision =
  | { readonly outcome: 'granted' | 'refreshed'; readonly permit: StoredPermit; readonly record: SemaphoreRecord }
  | { readonly outcome: 'denied'; readonly reason: DenialReason; readonly holders: readonly StoredPermit[] };

/**
 * Decides whether a node gets a permit. Pure: the same record, request and view always give the same answer.
 *
 * The order is part of the contract: 1 `no-definition`, 2 `group` (`paused` while an
 * operator's pause lets no group through), 3 `acquirer`, 4 refreshed, 5 granted (lowest free
 * slot), 6 `no-permit`.
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

/** After an edit to fewer permits the highest slots run out; with none left (a pause) a run that goes on may finish. */
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
  // Never shortens: what was extended stays extended, and the holder's own count never runs past the record's. Always
  // grows, also while cluster time stands still: others tell by `expiresAt` that the holder counts anew (LeaseObservations).
  const asked = askedNow(held, definition, request);
  const wanted = request.duration ?? keptDuration(asked, definition);
  const expiresAt = Math.max(held.expiresAt + 1, view.now + Math.max(wanted, Math.ceil(request.heldFor ?? 0)));
  const permit = { ...held, expiresAt, duration: expiresAt - view.now, asked };
  const permits = record.permits.map((other) => (other.id === held.id ? permit : other));
  const outcome = held.id === request.held?.id ? 'refreshed' : 'granted';
  return { outcome, permit, record: rewrite(record, { permits }, view, request.nonce) };
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
  // A permit of this holder that it doesn't have by its own clocks was lost or came too late: nobody uses it.
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
 * In grace after lost data. A permit that merely stands in the restored text proves nothing: it may have been lost and
 * granted on before the data went. Only a holder whose own lease has not ended may put its permit back; nobody new.
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
