import { KEY_PREFIX } from '../../../lib/core/decision/record.js';
import {
  SHARD_PREFIX,
  decodeRecord,
  decodeShard,
  isActive,
  isDoubted,
  shardOf,
} from '../../../lib/core/decision/index.js';
import { SHARDS } from '../world/world.js';

type TextCollection = ReadonlyMap<string, string>;

/** Whether the definition of a semaphore has been in force. */
export function isDefinedIn(texts: TextCollection, name: string): boolean {
  const own = texts.get(KEY_PREFIX + name);
  return own !== undefined && isActive(decodeRecord(name, own));
}

/**
 * Whether a semaphore waits for the grace of the shard that its name belongs to: its definition was not in force yet
 * when data were lost, or when a cluster began strictly.
 */
export function isWaitingForShard(texts: TextCollection, name: string): boolean {
  if (isDefinedIn(texts, name)) return false;
  const shard = texts.get(SHARD_PREFIX + shardOf(name, SHARDS));
  return shard === undefined || isDoubted(shard) || decodeShard(name, shard).grace !== undefined;
}
