import { describe, expect, it } from '@jest/globals';
import { StoreUnavailableError } from 'nestjs-gatekeeper';
import { SHARD_PREFIX } from '../../lib/decision/index.js';
import { outcomeOf, useCluster } from '../support/nodes.js';

const SWEEP = 12_500;

describe('looks at the shards', () => {
  const cluster = useCluster();

  it('keep the semaphores from being looked at no longer than they take, when they fail', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const readMany = node.store.readMany!.bind(node.store);
    node.store.readMany = async (keys) => {
      if (keys.some((key) => key.startsWith(SHARD_PREFIX))) throw new StoreUnavailableError('too large an answer');
      return readMany(keys);
    };
    await nodes.overwrite(undefined, 'job');
    await nodes.time.advance(6 * SWEEP);
    expect(await nodes.raw.read('semaphore:job')).toBeDefined();
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
    const delayed = fresh.store.readMany!.bind(fresh.store);
    fresh.store.readMany = async (keys) => {
      await new Promise<void>((resolve) => void nodes.time.schedule(resolve, 1000));
      return delayed(keys);
    };
    await fresh.gatekeeper.start();
    const revoking = fresh.gatekeeper.definitions.revoke('x', permit.id);
    const removing = fresh.gatekeeper.definitions.remove('x');
    await nodes.time.advance(10_000);
    expect([await outcomeOf(revoking), await outcomeOf(removing)]).toEqual([{ value: true }, { value: true }]);
  });
});
