import type { SemaphoreClient } from '../records/semaphore-records.js';
import type { ExternalDenial } from './external/external-calls.js';

/** A waiter looks at least this often (ms), because the watch is only a hint. */
export const LONGEST_NAP = 5000;

/** Waiters that hear of one release together don't all ask in the same ms: chance decides, so that none starves. */
export const JITTER = 20;

/**
 * ms until the second look at a record. A node that gave a permit back just after the first look may not have known yet
 * that this one waits for it.
 */
export const FIRST_NAP = 50;

/** ms after which a denied request may be worth another try although nothing was heard. */
export function untilWorthwhile(recordClient: SemaphoreClient, { holders, reason }: ExternalDenial): number {
  if (reason !== 'no-permit') return LONGEST_NAP;
  return Math.min(LONGEST_NAP, Math.max(1, Math.min(...holders.map((permit) => recordClient.timeUntilExpiry(permit)))));
}

/**
 * The denial with the time until enough of the holders' permits are over: after an edit to fewer permits several must end
 * before one is free. By what this node has seen of them.
 */
export function withEnd(recordClient: SemaphoreClient, denial: ExternalDenial): ExternalDenial {
  const { permits = 0 } = recordClient.known?.definition ?? {};
  if (denial.reason !== 'no-permit' || permits === 0) return denial;
  const ends = denial.holders
    .map((permit) => recordClient.timeUntilExpiry(permit))
    .toSorted((one, other) => one - other);
  const freeIn = ends[Math.max(0, ends.length - permits)] ?? Infinity;
  return Number.isFinite(freeIn) ? { ...denial, freeIn: Math.max(1, Math.ceil(freeIn)) } : denial;
}
