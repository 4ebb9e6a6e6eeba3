import { TestGatekeeper } from 'nestjs-gatekeeper/testing';
import { useCluster } from '../../support/nodes.js';

describe('the permits of this node', () => {
  const cluster = useCluster();
  const MANY = { definitions: [{ name: 'job', duration: 'PT10S', permits: 3 }] };

  it('are those that it holds, by semaphore and slot, with what may be relied on', async () => {
    const { gatekeeper } = await cluster().node(MANY);
    const second = await gatekeeper.tryAcquire('job', { holder: 'a' });
    const third = await gatekeeper.tryAcquire('job', { holder: 'b' });
    const first = await gatekeeper.tryAcquire('import', { duration: '5s' });
    const { instance } = gatekeeper.node;
    expect(gatekeeper.heldPermits()).toEqual([
      expect.objectContaining({ semaphore: 'import', slot: 0, id: first!.id, holder: instance, remaining: 4500 }),
      expect.objectContaining({ semaphore: 'job', slot: 0, token: second!.token, holder: 'a', uses: 1 }),
      expect.objectContaining({ semaphore: 'job', slot: 1, id: third!.id, holder: 'b', expiresAt: third!.expiresAt }),
    ]);
  });

  it('are not those of other nodes', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    await one.gatekeeper.tryAcquire('job');
    expect(await other.gatekeeper.tryAcquire('job')).toBeUndefined();
    expect(other.gatekeeper.heldPermits()).toEqual([]);
    expect(one.gatekeeper.heldPermits()).toHaveLength(1);
  });

  it('count the uses that share one, and end with the last', async () => {
    const { gatekeeper } = await cluster().node();
    const [one, other] = [await gatekeeper.tryAcquire('job'), await gatekeeper.tryAcquire('job')];
    expect(gatekeeper.heldPermits()).toMatchObject([{ uses: 2 }]);
    await one!.release();
    expect(gatekeeper.heldPermits()).toMatchObject([{ uses: 1 }]);
    await other!.release();
    expect(gatekeeper.heldPermits()).toEqual([]);
  });

  it('stay without a use after a run, until they expire', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    await gatekeeper.run('job', () => expect(gatekeeper.heldPermits()).toMatchObject([{ uses: 1 }]));
    expect(gatekeeper.heldPermits()).toMatchObject([{ semaphore: 'job', uses: 0 }]);
    await nodes.time.advance(10_000);
    expect(gatekeeper.heldPermits()).toEqual([]);
  });

  it('are also known to a TestGatekeeper', async () => {
    const gatekeeper = new TestGatekeeper();
    const permit = await gatekeeper.tryAcquire('job', { duration: '5m' });
    await gatekeeper.tryAcquire('import', { duration: '5m' });
    expect(gatekeeper.heldPermits()).toMatchObject([{ semaphore: 'import' }, { semaphore: 'job', uses: 1 }]);
    await permit!.release();
    gatekeeper.lose('import');
    expect(gatekeeper.heldPermits()).toEqual([]);
  });
});
