import type { Chance } from '../simulation/world/chance.js';
import type { Need } from './needs.js';
import type { Rig } from './rig.js';
import type { SiteOptions } from './site.js';
import type { StoreName } from './stores.js';

/** How bad a fault may make things, and still be kept within what is promised. In ms. */
export interface Bounds {
  /** What a takeover after kill -9 may take beyond duration and clock tolerance. */
  readonly takeover: number;
  /** How soon each semaphore has to be granted again when all is as it should be. */
  readonly recovery: number;
  /** Both sides of a split without a quorum grant: overlaps are counted, but they break no promise. */
  readonly mayOverlap?: boolean;
}

/** One kind of trouble, made over and over. */
export interface Fault {
  readonly name: string;
  readonly needs: readonly Need[];
  /**
   * Whether the store itself suffers: then takeovers are only due when it is well again. Where only clients suffer they
   * are due at any time.
   */
  readonly isOfStore: boolean;
  /** How its site and clients differ from the others'. */
  readonly site?: Partial<Pick<SiteOptions, 'quorum' | 'memberClock'>>;
  readonly clientClocks?: boolean;
  /** The stores other than the optimistic one that it is tried on unless asked otherwise. */
  readonly alsoOn: readonly StoreName[];
  readonly bounds: Bounds;
  /** Makes the trouble once, and ends it: everybody is there and connected again when it returns. */
  readonly strike: (rig: Rig, chance: Chance) => Promise<void>;
}
