import { describe, expect, it } from '@jest/globals';
import { SHARD_PREFIX, decodeShard, shardOf } from '../../lib/decision/index.js';
import { FEW_SHARDS } from '../support/born.js';
import { shardKeyOf, useCluster } from '../support/nodes.js';

const SHORT = { duration: '10s' };

describe('a claim that a stale node lost', () => {
  const cluster = useCluster();

  it.each(['10s', '1h'])('keeps its name from two holders, sweeping each %s', async (sweepInterval) => {
    const nodes = cluster();
    const stale = await nodes.node({ sweepInterval: '1h', definitions: [] });
    stale.store.isDeaf = true;
    const before = (await nodes.raw.read(shardKeyOf('x')))!;
    const node = await nodes.node({ sweepInterval, definitions: [{ name: 'x', duration: '2h' }] });
    const first = await node.gatekeeper.tryAcquire('x');
    expect(first?.isHeld).toBe(true);
    const shard = shardOf('x', FEW_SHARDS);
    expect(decodeShard(shard, (await nodes.raw.read(SHARD_PREFIX + shard))!).claims.has('x')).toBe(true);
    expect(before).toBeDefined();
    nodes.lose(shardKeyOf('x'));
    expect(await stale.gatekeeper.tryAcquire('x', SHORT)).toBeUndefined();
    await nodes.time.advance(16 * 60_000);
    const second = await stale.gatekeeper.tryAcquire('x', SHORT);
    expect([first!.isHeld, second !== undefined]).not.toEqual([true, true]);
  });
});
