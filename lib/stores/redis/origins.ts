import type { RedisClient } from './clients/redis-client.js';
import { BUCKETS, type Keys } from './keys.js';
import { DOUBT_BUCKET, runScript } from './scripts.js';

/**
 * Marks the records as soon as this node meets another server. Each write does that too, for its bucket (`scripts.ts`),
 * so no promise depends on this class. But a grace should begin when the server takes over, not at the next write.
 */
export class Origins {
  readonly #known = new Set<string>();

  constructor(
    private readonly keys: Keys,
    /** Runs a call with a deadline. */
    private readonly within: <T>(call: () => Promise<T>) => Promise<T>,
  ) {}

  /** @returns whether an origin is new. Then records may have been marked @throws the client's error */
  async meet(client: RedisClient, origins: readonly string[]): Promise<boolean> {
    if (origins.every((origin) => this.#known.has(origin))) return false;
    await Promise.all(Array.from({ length: BUCKETS }, (_, bucket) => this.#mark(client, bucket)));
    for (const origin of origins) this.#known.add(origin);
    return true;
  }

  #mark(client: RedisClient, bucket: number): Promise<unknown> {
    const keys = [this.keys.index(bucket), this.keys.origin(bucket)];
    return this.within(() => runScript(client, DOUBT_BUCKET, keys));
  }
}
