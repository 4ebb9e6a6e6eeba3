import type { Driver } from 'nestjs-gatekeeper';
import {
  ROOT_KEY,
  SHARD_PREFIX,
  blankShard,
  encodeShardRoot,
  encodeShard,
  shardOf,
} from '../../lib/core/decision/index.js';

/** Fewer shards than in production, so that a cluster is born in no time and names meet in one shard. */
export const FEW_SHARDS = 4;

/** Puts the root and the shards of the names on demand into a store, as a node did at the birth of the cluster. */
export async function bear(store: Driver, now: number): Promise<void> {
  await store.records.compareAndSet(ROOT_KEY, undefined, encodeShardRoot({ nonce: 'born', id: 'born', state: 'open' }));
  for (let shard = 0; shard < FEW_SHARDS; shard++) {
    const blank = encodeShard(blankShard('born', now, `shard-${shard}`));
    await store.records.compareAndSet(SHARD_PREFIX + shard, undefined, blank);
  }
}

/** So many names of one shard. */
export function namesIn(shard: string, count: number, prefix = 'order-'): string[] {
  const names: string[] = [];
  for (let each = 0; names.length < count; each++) {
    if (shardOf(prefix + each, FEW_SHARDS) === shard) names.push(prefix + each);
  }
  return names;
}
