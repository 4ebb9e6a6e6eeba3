import { describe, expect, it } from '@jest/globals';
import { SHARD_PREFIX, type StoredPermit, decodeShard, encodeShard, shardOf } from '../../lib/decision/index.js';
import { LARGEST_BODY } from '../../lib/stores/remote/protocol.js';
import { GATEKEEPER_PROPERTY } from '../../lib/nest/cluster-singleton.constants.js';
import { runGuarded } from '../../lib/nest/guarded-run.js';
import { FEW_SHARDS } from '../support/born.js';
import { outcomeOf, useCluster } from '../support/nodes.js';

const SHORT = { duration: '10s' };

describe('a shard that many live names share', () => {
  const cluster = useCluster();

  it.each([1000, 3000, 6000])('has a bound: %s names', async (count) => {
    const nodes = cluster();
    const node = await nodes.node();
    const key = SHARD_PREFIX + '0';
    const text = (await nodes.raw.read(key))!;
    const now = nodes.time.cluster();
    const permitOf = (name: string): StoredPermit => ({
      id: `${name}-permit`,
      slot: 0,
      token: now * 1024,
      instance: 'f22515d3f257e507',
      holder: 'f22515d3f257e507',
      acquirer: 'orders-7d9f6c5b4-x2x7q',
      group: 'default',
      grantedAt: now,
      expiresAt: now + 900_000,
      duration: 900_000,
      asked: { duration: 900_000, under: 900_000 },
    });
    const names = new Map(
      Array.from({ length: count }, (_, each) => [
        `order-000000${each}`,
        { revision: 1, permits: [permitOf(`order-${each}`)] },
      ]),
    );
    const full = encodeShard({ ...decodeShard('0', text), seq: 5, names });
    await nodes.raw.compareAndSet(key, text, full);
    let name = 'a';
    while (shardOf(name, FEW_SHARDS) !== '0') name += 'a';
    const began = performance.now();
    decodeShard('0', full);
    const took = performance.now() - began;
    const taking = node.gatekeeper.tryAcquire(name, SHORT);
    await outcomeOf(taking);
    const bytes = (await nodes.raw.read(key))!.length;
    expect(2 * bytes).toBeLessThan(LARGEST_BODY);
    expect(took).toBeLessThan(20);
  });
});

describe('a guarded method whose name has a record of its own, by other code', () => {
  const cluster = useCluster();

  it('takes the duration of the definition in force', async () => {
    const nodes = cluster();
    const defining = await nodes.node({ definitions: [{ name: 'x', ...SHORT }] });
    await defining.gatekeeper.definitions.edit('x', { duration: '5s' });
    const { gatekeeper } = await nodes.node();
    const metadata = { semaphore: () => 'x', duration: '10m', options: {} };
    const place = { target: {}, property: 'work' };
    const instance = { [GATEKEEPER_PROPERTY]: gatekeeper };
    await runGuarded({ instance, place, metadata, args: [], work: () => 1 } as never);
    expect((await nodes.record('x')).permits).toMatchObject([{ duration: 5000 }]);
  });
});
