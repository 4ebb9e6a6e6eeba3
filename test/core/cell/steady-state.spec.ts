import { useCluster } from '../../support/nodes.js';
import { removed } from '../../support/removed.js';

describe('steady state', () => {
  const cluster = useCluster();

  it('is one round trip per verb', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    const before = { ...store.calls };
    const permit = (await gatekeeper.tryAcquire('job'))!;
    await permit.extend();
    await permit.release();
    expect(store.calls).toEqual({ ...before, compareAndSet: before.compareAndSet + 3 });
  });

  it('is one read for a denial', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    await one.gatekeeper.tryAcquire('job');
    // A grant notifies no node: the first denial finds out.
    await other.gatekeeper.tryAcquire('job');
    const before = { ...other.store.calls };
    await other.gatekeeper.tryAcquire('job');
    expect(other.store.calls).toEqual({ ...before, read: before.read + 1 });
  });

  it('is one read for a denial under a definition of code that was removed', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    await removed(gatekeeper, 'job');
    expect(await gatekeeper.tryAcquire('job')).toBeUndefined();
    const before = { ...store.calls };
    expect(await gatekeeper.tryAcquire('job')).toBeUndefined();
    expect(store.calls).toEqual({ ...before, read: before.read + 1 });
  });
});
