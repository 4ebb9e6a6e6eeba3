import { quoted } from '../../core/decision/texts/hidden-characters.js';
import type { StoreDefinition } from '../../core/store/driver.js';
import { HazelcastDriver } from './hazelcast.driver.js';
import { type HazelcastStoreOptions, placeOf, resolveOptions } from './hazelcast.options.js';

export type { ClientLogger, GivenClientOptions, HazelcastStoreOptions, OwnClientOptions } from './hazelcast.options.js';
export { ClockPrefetchError } from './flake-id-clock.js';
export { CpMissingError } from './texts/cp-records.js';

/**
 * Keeps records in a map of a Hazelcast cluster: the default store.
 *
 * Opening the store never waits. It connects in the background and retries for ever, with growing, jittered pauses of
 * up to 5 s. Until it is connected, calls fail with StoreUnavailableError, and `health().problem` says why. Reads and
 * listings first wait for the first attempt to connect.
 *
 * @param options the cluster, or your own client; see {@link OwnClientOptions} and {@link GivenClientOptions}
 * @throws InvalidOptionsError listing every fault, each with its field and value
 * @see https://docs.hazelcast.com/hazelcast/latest/data-structures/map
 */
export function hazelcast(options: HazelcastStoreOptions = {}): StoreDefinition {
  const resolved = resolveOptions(options);
  const place = `Hazelcast, ${placeOf(resolved)}, map ${quoted(resolved.mapName)}`;
  return { kind: 'hazelcast', place, open: (opening) => new HazelcastDriver(resolved, opening) };
}
