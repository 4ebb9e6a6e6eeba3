import { SHARD_PREFIX, type ShardRecord, decodeShard } from '../../lib/core/decision/index.js';
import { partsOf } from '../../lib/gatekeeper/index.js';
import type { TestCluster, TestNode } from './nodes.js';

/** A shard as it stands in the store. */
export async function shardIn({ raw }: TestCluster, shard: string): Promise<ShardRecord> {
  return decodeShard(shard, (await raw.records.read(SHARD_PREFIX + shard))!);
}

/** Writes a text that no node of the test wrote. All nodes hear of it. */
export async function put({ raw }: TestCluster, key: string, text: string): Promise<void> {
  await raw.records.compareAndSet(key, await raw.records.read(key), text);
}

/** Takes a permit as an external client does. */
export function takeOutside({ gatekeeper }: TestNode, semaphore: string, duration?: number, instance = 'http:ann') {
  return partsOf(gatekeeper).external.take(
    { semaphore, instance, acquirer: 'ann', holder: 'script', ...(duration !== undefined && { duration }) },
    { wait: 0, signal: new AbortController().signal },
  );
}
