import type { GatekeeperSettings } from '../../../lib/gatekeeper/index.js';
import type { SemaphoreDefinition } from '../../../lib/core/decision/index.js';
import type { Chance } from './chance.js';
import type { Checker } from './checker.js';
import { SHORTEST, type Measures } from '../kind/length.js';
import type { StoreCluster } from '../store/store-cluster.js';
import type { Trace } from './trace.js';
import type { VirtualTime } from './virtual-time.js';
import type { Deploys } from '../machines/deploys.js';
import type { FaultMix } from '../kind/fault-mix.js';

/** Objects that all parts of one schedule share. */
export interface World {
  readonly time: VirtualTime;
  readonly trace: Trace;
  readonly checker: Checker;
  readonly cluster: StoreCluster;
  readonly faultMix: FaultMix;
  readonly measures: Measures;
  readonly definition: SemaphoreDefinition;
  /** Present if the nodes are deployed again and again, with changed code. */
  readonly deploys?: Deploys | undefined;
  /** Of every node, but for what each has of its own: its store, its names, its delays. */
  readonly settings: GatekeeperSettings;
  /** ms that clocks may be apart. */
  readonly tolerance: number;
  readonly callTimeout: number;
  readonly chance: Chance;
}

export const SEMAPHORE = 'job';

/** The code of some nodes defines it, the others call it with a duration. */
export const DEFINED_BY_SOME = 'half';

/** Shards of the names on demand: few, so that names share one, and faulty calls make all of them at a birth. */
export const SHARDS = 2;

/** Durations that calls may ask for instead of the definition's, in ms. */
export function anyDuration({ tolerance, faultMix, definition, measures }: World, chance: Chance): number {
  return Math.round(chance.skewed(SHORTEST * tolerance, faultMix.longPermits ? measures.longest : definition.duration));
}
