import { StoreUnavailableError } from 'nestjs-gatekeeper';
import { useCluster } from '../../../support/nodes.js';
import { ANN, nodeWithJob, runNowOf } from './runners.js';

describe('a run by hand of which the hint was lost', () => {
  const cluster = useCluster();

  it('is run by the node that answers when no hint arrives', async () => {
    const nodes = cluster();
    let runs = 0;
    const node = await nodeWithJob(nodes, { work: () => runs++ });
    node.store.isDeaf = true;
    expect(await runNowOf(node).run('job', ANN)).toMatchObject({ state: 'ended', outcome: 'ok' });
    expect(runs).toBe(1);
  });

  it('is run once the store answers again, when the look after a reconnection failed, too', async () => {
    const nodes = cluster();
    let runs = 0;
    const node = await nodeWithJob(nodes, { work: () => runs++ });
    const asker = await nodes.node({ heartbeat: 1000 });
    node.store.isDeaf = true;
    node.store.script = () => Promise.reject(new StoreUnavailableError('the connection is lost'));
    const { id } = await runNowOf(asker).run('job', { ...ANN, timeout: 0 });
    await expect(node.gatekeeper.tryAcquire('job')).rejects.toThrow(StoreUnavailableError);
    expect(node.events.map(({ type }) => type)).toContain('store-lost');
    node.store.script = undefined;
    await (await node.gatekeeper.tryAcquire('job'))!.release();
    await nodes.time.advance(0);
    expect(await runNowOf(asker).follow('job', id, { timeout: 0 })).toMatchObject({ state: 'ended', outcome: 'ok' });
    expect(runs).toBe(1);
  });
});
