import type { StoredPermit } from '../decision/index.js';
import type { HeldLeases } from './held-leases.js';

/** A permit that this node holds now. */
export interface OwnPermit extends StoredPermit {
  /** Name of the semaphore. */
  readonly semaphore: string;
  /** ms for which this node may still rely on the permit. */
  readonly remaining: number;
  /** Number of calls and runs that share the permit. 0: its run has ended, and it is kept until it expires. */
  readonly uses: number;
}

type Held = Pick<HeldLeases, 'semaphore' | 'leases'>;

/** The permits that are held now, sorted by semaphore and slot. */
export function ownPermits(held: Iterable<Held>): OwnPermit[] {
  return [...held].flatMap(permitsOf).toSorted(bySemaphore);
}

function permitsOf({ semaphore, leases }: Held): OwnPermit[] {
  return leases
    .filter((lease) => lease.isHeld)
    .map(({ permit, remaining, users }) => ({ ...permit, semaphore, remaining, uses: users.size }));
}

function bySemaphore(one: OwnPermit, other: OwnPermit): number {
  if (one.semaphore === other.semaphore) return one.slot - other.slot;
  return one.semaphore < other.semaphore ? -1 : 1;
}
