import { useCluster } from '../support/nodes.js';

/** The steps of docs/from-shedlock.md and docs/from-node-cron.md. */
describe('a job that moves here from another library', () => {
  const cluster = useCluster();
  const PAUSED = { definitions: [{ name: 'export', permits: 0, duration: 'PT10M' }] };
  const BY = { by: 'ann', reason: 'the export moves' };

  it('does not run before an operator gives it a permit, and runs then on one node', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(PAUSED), await nodes.node(PAUSED)];
    expect(await one.gatekeeper.run('export', () => 'ran')).toMatchObject({ executed: false });
    await one.gatekeeper.definitions.edit('export', { permits: 1 }, BY);
    await nodes.time.advance(0);
    expect(await one.gatekeeper.run('export', () => 'ran')).toMatchObject({ executed: true });
    expect(await other.gatekeeper.run('export', () => 'ran')).toEqual({ executed: false, reason: 'no-permit' });
  });

  it('keeps the permit that an operator gave it on nodes that start later with the old code', async () => {
    const nodes = cluster();
    const one = await nodes.node(PAUSED);
    await one.gatekeeper.definitions.edit('export', { permits: 1 }, BY);
    await one.gatekeeper.close();
    const later = await nodes.node(PAUSED);
    expect(await later.gatekeeper.run('export', () => 'ran')).toMatchObject({ executed: true });
  });
});
