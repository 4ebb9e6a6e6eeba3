import { describe, expect, it } from '@jest/globals';
import { ROOT_KEY, SHARD_PREFIX, shardOf } from '../../lib/decision/index.js';
import { FEW_SHARDS } from '../support/born.js';
import { JOB, shardKeyOf, useCluster } from '../support/nodes.js';

const SHORT = { duration: '10s' };

describe('a root that can not be read', () => {
  const cluster = useCluster();

  it('is reported once, not at each look', async () => {
    const nodes = cluster();
    await nodes.raw.compareAndSet(ROOT_KEY, undefined, 'rubbish');
    const node = nodes.unstarted({ definitions: [JOB], definitionsDelay: 0 });
    await node.gatekeeper.start();
    await nodes.time.advance(60_000);
    expect(node.of('problem').length).toBeLessThan(10);
  });

  it('is no outage of the store, but a fault that health shows', async () => {
    const nodes = cluster();
    await nodes.raw.compareAndSet(ROOT_KEY, undefined, 'rubbish');
    const node = nodes.unstarted({ definitions: [JOB], definitionsDelay: 0 });
    await node.gatekeeper.start();
    for (let each = 0; each < 6; each++) {
      const taking = node.gatekeeper.tryAcquire('x', SHORT).catch(() => undefined);
      await nodes.time.advance(10_000);
      await taking;
    }
    const types = new Set(node.events.map(({ type }) => type));
    expect([...types]).toEqual(['problem']);
    expect(node.gatekeeper.health().faults.length).toBe(1);
  });
});

describe('a name whose shard can not be read', () => {
  const cluster = useCluster();

  it('is shown with its problem, not as one that does not exist', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    await node.gatekeeper.definitions.define({ name: 'x', duration: '10s' });
    const text = await nodes.raw.read(shardKeyOf('x'));
    await nodes.raw.compareAndSet(SHARD_PREFIX + shardOf('x', FEW_SHARDS), text, 'rubbish');
    const { semaphores } = await node.gatekeeper.overview('x');
    expect(semaphores.length).toBe(1);
  });
});
