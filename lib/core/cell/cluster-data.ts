import {
  KEY_PREFIX,
  SHARD_PREFIX,
  decodeRecord,
  decodeShard,
  isActive,
  isBlank,
  isOwnName,
} from '../decision/index.js';
import { Slices } from '../async/slices.js';
import type { Context } from '../context/context.js';
import { isUnreadable } from './known-record.js';
import { listRecords } from './list-records.js';
import type { Shards } from './shards.js';

/** Whether the store contains data of a cluster. Then missing shards were lost. */
export async function hasData(context: Context, known: Shards): Promise<boolean> {
  const slices = Slices.of(context.nodeClock);
  const shards = await known.texts();
  for (const [key, text] of shards) {
    await slices.turn();
    if (!isVoid(() => isBlank(decodeShard(key.slice(SHARD_PREFIX.length), text)))) return true;
  }
  const own = await listRecords(context, KEY_PREFIX);
  for (const [key, text] of own) {
    await slices.turn();
    const name = key.slice(KEY_PREFIX.length);
    // The package's own semaphores are used before the shards exist.
    if (!isOwnName(name) && !isVoid(() => !isActive(decodeRecord(name, text)))) return true;
  }
  return false;
}

/** Whether a text is no data, by `check`. An unreadable text counts as data. */
function isVoid(check: () => boolean): boolean {
  try {
    return check();
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return false;
  }
}
