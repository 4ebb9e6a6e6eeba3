import type { SemaphoreDefinition } from '../../../lib/semaphores/index.js';
import type { Chance } from './chance.js';
import type { Checker } from './checker.js';
import type { Measures } from '../weather/length.js';
import type { StoreCluster } from '../store/store-cluster.js';
import type { Trace } from './trace.js';
import type { VirtualTime } from './virtual-time.js';
import type { Weather } from '../weather/weather.js';

/** What all parts of one schedule share. */
export interface World {
  readonly time: VirtualTime;
  readonly trace: Trace;
  readonly checker: Checker;
  readonly cluster: StoreCluster;
  readonly weather: Weather;
  readonly measures: Measures;
  readonly definition: SemaphoreDefinition;
  /** ms that clocks may be apart. */
  readonly tolerance: number;
  readonly callTimeout: number;
  readonly chance: Chance;
}

export const SEMAPHORE = 'job';
