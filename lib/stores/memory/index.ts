import type { StoreDefinition } from '../../core/store/driver.js';
import { MemoryCluster } from './memory-cluster.js';
import { MemoryDriver } from './memory.driver.js';

/** Options of `memory(...)`. */
export interface MemoryOptions {
  /** Cluster time in ms since the epoch. Default: the host's wall clock. */
  readonly clock?: () => number;
}

/**
 * A store in this process's memory, for tests and for an application that runs as one process.
 *
 * Each result of this function is one "cluster". All stores that are opened from it share the same records, like
 * clients of one cluster. Results of two calls share nothing, and nothing outlives the process.
 *
 * @param options cluster time, for tests that move time
 */
export function memory({ clock = Date.now }: MemoryOptions = {}): StoreDefinition {
  const cluster = new MemoryCluster(clock);
  return { kind: 'memory', isOwn: true, open: (options) => new MemoryDriver(cluster, options?.writer) };
}
