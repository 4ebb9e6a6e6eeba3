import { ROOT_KEY, SHARD_PREFIX, blankShard, decodeRoot, encodeRoot, encodeShard } from '../decision/index.js';
import { forEachLimit } from '../async/for-each-limit.js';
import type { Context } from '../context/context.js';

/**
 * Makes all shards and an open root in a store of this process, as the birth of a cluster does. Other nodes may use the
 * store over `remote()`. Without a root they would take missing shards for lost ones.
 *
 * @param shards names of all shards
 * @throws if the store can't be asked
 */
export async function makeOwnShards({ store, random }: Context, shards: readonly string[]): Promise<void> {
  const found = await store.records.read(ROOT_KEY);
  if (found !== undefined && decodeRoot(found).state === 'open') return;
  const id = random.id();
  await forEachLimit(shards, async (shard) => {
    await store.records.compareAndSet(SHARD_PREFIX + shard, undefined, encodeShard(blankShard(id, 0, random.id())), {
      notify: 'none',
    });
  });
  await store.records.compareAndSet(ROOT_KEY, found, encodeRoot({ nonce: random.id(), id, state: 'open' }));
}
