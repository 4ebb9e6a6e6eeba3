import type { Chance } from '../../../test/simulation/world/chance.js';
import type { Need } from './needs.js';
import type { TestBed } from './test-bed.js';
import type { SiteOptions } from './site.js';
import type { MemberStoreName, StoreName } from './stores.js';

/** Delays that a fault may cause without a broken promise, in ms. */
export interface Bounds {
  /** Longest takeover after kill -9 beyond duration and clock tolerance. */
  readonly takeover: number;
  /** Time within which each semaphore is granted again after the fault. */
  readonly recovery: number;
  /** Time within which each resource has an owner, and all clients have even shares, after the fault. */
  readonly convergence: number;
  /** Both sides of a split without a quorum grant: overlaps are counted, but they break no promise. */
  readonly mayOverlap?: boolean;
}

/** One kind of fault, injected again and again. */
export interface Fault {
  readonly name: string;
  readonly needs: readonly Need[];
  /**
   * Whether the fault is of the store: then takeovers are due only after it has ended. Under faults of clients they
   * are due at any time.
   */
  readonly isOfStore: boolean;
  /** Differences of its site and clients from the defaults. */
  readonly site?: Partial<Pick<SiteOptions, 'quorum' | 'memberClock'>>;
  readonly clientClocks?: boolean;
  readonly losesData?: boolean;
  /** The only stores that it is made for; absent: the stores on members, and for a fault of clients also the others. */
  readonly onlyOn?: readonly StoreName[];
  /** Stores on members, besides the optimistic one, that it is tried on by default. */
  readonly alsoOn: readonly MemberStoreName[];
  readonly bounds: Bounds;
  /** Injects the fault once and ends it. All members and clients are connected again when it returns. */
  readonly action: (testBed: TestBed, chance: Chance) => Promise<void>;
}
