import { SHARD_PREFIX } from '../../../lib/core/decision/index.js';
import { namesIn } from '../../support/born.js';
import { outcomeOf, useCluster } from '../../support/nodes.js';
import { put } from '../../support/shards.js';

const SHORT = { duration: '10s' };
const SWEEP = 12_500;

describe('a shard that can not be read', () => {
  const cluster = useCluster();

  it('keeps no definition of another shard from being loaded', async () => {
    const nodes = cluster();
    await nodes.bear();
    const [bad] = namesIn('0', 1);
    const [good] = namesIn('1', 1);
    await put(nodes, SHARD_PREFIX + '0', 'rubbish');
    const definitions = [bad!, good!].map((name) => ({ name, duration: '10s' }));
    const node = await nodes.node({ definitions });
    await nodes.time.advance(2 * SWEEP);
    expect(await outcomeOf(node.gatekeeper.tryAcquire(good!))).toMatchObject({ value: { isHeld: true } });
  });

  it('stops neither the looks nor the claims of other names', async () => {
    const nodes = cluster();
    const [bad] = namesIn('0', 1);
    const [good] = namesIn('1', 1);
    const definitions = [bad!, good!].map((name) => ({ name, duration: '10s' }));
    const node = await nodes.node({ definitions });
    await put(nodes, SHARD_PREFIX + '0', 'rubbish');
    await put(nodes, SHARD_PREFIX + '1', 'rubbish');
    await nodes.time.advance(2 * SWEEP);
    const problems = node.of('problem').map(({ action, error }) => `${action}: ${String(error)}`);
    expect(problems).toEqual([]);
  });

  it('is granted from again once the text is removed', async () => {
    const nodes = cluster();
    await nodes.bear();
    await put(nodes, SHARD_PREFIX + '0', 'rubbish');
    const node = await nodes.node();
    const [name] = namesIn('0', 1);
    nodes.lose(SHARD_PREFIX + '0');
    await nodes.time.advance(40 * 60_000);
    expect(await outcomeOf(node.gatekeeper.tryAcquire(name!, SHORT))).toMatchObject({ value: { isHeld: true } });
  });
});
