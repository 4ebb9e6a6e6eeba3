import { describe, expect, it } from '@jest/globals';
import { SHARD_PREFIX, shardOf } from '../../lib/decision/index.js';
import { FEW_SHARDS } from '../support/born.js';
import { shardKeyOf, useCluster } from '../support/nodes.js';

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
