/**
 * The store in Redis or Valkey. Needs the package `redis` or `ioredis`.
 *
 * @module nestjs-gatekeeper/redis
 */

import { quoted } from '../../core/decision/texts/hidden-characters.js';
import type { StoreDefinition } from '../../core/store/driver.js';
import { type RedisStoreOptions, resolveOptions } from './redis.options.js';
import { RedisDriver } from './redis.driver.js';

export { MissingPackageError } from '../../core/decision/missing-package.error.js';
export type { IoredisClient } from './clients/ioredis.js';
export type { NodeRedisClient } from './clients/node-redis.js';
export type { GivenRedisOptions, OwnRedisOptions, RedisStoreOptions } from './redis.options.js';

/**
 * Keeps records in Redis 6.2 or newer, or in Valkey.
 *
 * Opening the store never waits. It connects in the background. Until it is connected, calls fail with
 * StoreUnavailableError, and `health().problem` says why. Reads and listings first wait for the first attempt to connect.
 *
 * @param options your own client, or the address of the server; see {@link GivenRedisOptions} and {@link OwnRedisOptions}
 * @throws InvalidOptionsError listing every fault
 * @throws MissingPackageError if `url` is given and neither ioredis nor redis is installed
 * @see https://redis.io/docs/latest/develop/programmability/eval-intro/
 */
export function redis(options: RedisStoreOptions): StoreDefinition {
  const resolved = resolveOptions(options);
  const place = `${resolved.place}, prefix ${quoted(resolved.prefix)}`;
  return { kind: 'redis', place, open: (opening) => new RedisDriver(resolved, opening) };
}
