import { StoreUnavailableError } from 'nestjs-gatekeeper';
import {
  ROOT_KEY,
  SHARD_PREFIX,
  blankShard,
  decodeShard,
  encodeShardRoot,
  encodeShard,
} from '../../../lib/core/decision/index.js';
import { partsOf } from '../../../lib/gatekeeper/index.js';
import { outcomeOf, useCluster } from '../../support/nodes.js';
import { removed } from '../../support/removed.js';
import { put } from '../../support/shards.js';

const SWEEP = 12_500;

describe('looks at the shards', () => {
  const cluster = useCluster();

  it('keep the semaphores from being looked at no longer than they take, when they fail', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const { readMany } = node.store.records;
    node.store.records.readMany = async (keys) => {
      if (keys.some((key) => key.startsWith(SHARD_PREFIX))) throw new StoreUnavailableError('too large an answer');
      return readMany(keys);
    };
    await nodes.overwrite(undefined, 'job');
    await nodes.time.advance(6 * SWEEP);
    expect(await nodes.raw.records.read('semaphore:job')).toBeDefined();
  });
});

describe('an operator who asks a node that has just started', () => {
  const cluster = useCluster();

  it('is not told that a permit of a declared name is no longer held', async () => {
    const nodes = cluster();
    const other = await nodes.node();
    await other.gatekeeper.definitions.define({ name: 'x', duration: '10m' });
    const permit = (await other.gatekeeper.tryAcquire('x'))!;
    const fresh = nodes.unstarted({ definitions: [{ name: 'x', duration: '10s' }], definitionsDelay: '5s' });
    const { readMany } = fresh.store.records;
    fresh.store.records.readMany = async (keys) => {
      await new Promise<void>((resolve) => void nodes.time.schedule(resolve, 1000));
      return readMany(keys);
    };
    await fresh.gatekeeper.start();
    const revoking = fresh.gatekeeper.definitions.revoke('x', permit.id);
    const removing = removed(fresh.gatekeeper, 'x');
    await nodes.time.advance(10_000);
    expect([await outcomeOf(revoking), await outcomeOf(removing)]).toEqual([{ value: true }, { value: true }]);
  });

  it('changes many names although that node has not read the shards yet', async () => {
    const nodes = cluster();
    const other = await nodes.node();
    await other.gatekeeper.definitions.define({ name: 'x', duration: '10m' });
    const fresh = nodes.unstarted({ definitionsDelay: '5s' });
    const { read } = fresh.store.records;
    fresh.store.records.read = async (key) => {
      if (key === ROOT_KEY) await new Promise<void>((resolve) => void nodes.time.schedule(resolve, 1000));
      return read(key);
    };
    await fresh.gatekeeper.start();
    const pausing = fresh.gatekeeper.definitions.pauseAll();
    await nodes.time.advance(10_000);
    expect(await outcomeOf(pausing)).toMatchObject({ value: { done: ['job', 'x'], failed: [] } });
  });
});

describe('a hint of a shard', () => {
  const cluster = useCluster();

  it('makes no node restore what it read before it had history', async () => {
    const nodes = cluster();
    await nodes.bear();
    const fresh = nodes.unstarted({ definitions: [] });
    await fresh.gatekeeper.start();
    // Another birth begins while it reads: the shards that it has are of the former one.
    await put(nodes, ROOT_KEY, encodeShardRoot({ nonce: 'r', id: 'next', state: 'creating' }));
    await nodes.time.advance(0);
    partsOf(fresh.gatekeeper)
      .directory.shards.of('0')
      .observe(encodeShard(blankShard('former', 1, 'former')));
    await put(nodes, `${SHARD_PREFIX}0`, encodeShard(blankShard('next', 1, 'next')));
    await nodes.time.advance(100);
    expect(decodeShard('0', (await nodes.raw.records.read(`${SHARD_PREFIX}0`))!).grace).toBeUndefined();
  });
});
