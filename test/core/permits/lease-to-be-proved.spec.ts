import { StoreUnavailableError } from 'nestjs-gatekeeper';
import { useCluster } from '../../support/nodes.js';

describe('a lease that only a sample of the clocks could prove over', () => {
  const cluster = useCluster();

  /** Seen after the node's last sample, and over by cluster time but not yet by the node's own count. */
  async function overUnproven() {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    await other.gatekeeper.tryAcquire('job');
    // Its sweep would free the permit.
    other.store.script = () => new Promise(() => undefined);
    one.store.script = (call, go) => (call === 'now' ? Promise.reject(new StoreUnavailableError('away')) : go());
    await nodes.time.advance(5000);
    await one.gatekeeper.explain('job');
    await nodes.time.advance(5600);
    return { nodes, ...one };
  }

  it('is over once the clocks can be read', async () => {
    const { gatekeeper, store } = await overUnproven();
    store.script = undefined;
    expect(await gatekeeper.tryAcquire('job')).toBeDefined();
  });

  it('denies, and fails no call, while they can not be', async () => {
    const { gatekeeper, of } = await overUnproven();
    expect(await gatekeeper.tryAcquire('job')).toBeUndefined();
    expect(of('denied')).toMatchObject([{ reason: 'no-permit' }]);
    expect(of('store-lost')).toEqual([]);
  });

  it('does not hold up what needs no proof of it', async () => {
    const { gatekeeper, nodes } = await overUnproven();
    expect(await gatekeeper.definitions.edit('job', { permits: 2 })).toMatchObject({ revision: 2 });
    const permit = await gatekeeper.tryAcquire('job');
    expect(permit?.slot).toBe(1);
    await nodes.time.advance(4000);
    expect(await gatekeeper.refresh(permit!)).toBe(true);
  });
});
