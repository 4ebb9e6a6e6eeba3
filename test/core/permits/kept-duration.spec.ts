import { type TestCluster, type TestNode, openEnd, useCluster } from '../../support/nodes.js';
import { take, taken } from '../../support/external-client.js';
import { partsOf } from '../../../lib/gatekeeper/parts.js';

const HOUR = 3_600_000;
const LONG = { definitions: [{ name: 'job', duration: '1h' }] };
const BY_ANN = { by: 'ann' };

/** ms for which the record still says that the permit is held. */
async function left(nodes: TestCluster): Promise<number> {
  return (await nodes.record()).permits[0]!.expiresAt - nodes.time.cluster();
}

async function refreshes({ of }: TestNode, nodes: TestCluster, ms: number): Promise<number> {
  const before = of('refreshed').length;
  await nodes.time.advance(ms);
  return of('refreshed').length - before;
}

describe('the duration that a permit was taken with', () => {
  const cluster = useCluster();

  it('counts for each refresh by keep-alive, whatever the definition says', async () => {
    const nodes = cluster();
    const node = await nodes.node(LONG);
    const permit = (await node.gatekeeper.tryAcquire('job', { duration: '2s', keepAlive: true }))!;
    expect(await refreshes(node, nodes, 1500)).toBeGreaterThan(0);
    expect(await left(nodes)).toBeLessThanOrEqual(2000);
    await nodes.time.advance(20_000);
    expect(permit.isHeld).toBe(true);
    expect(permit.remaining).toBeLessThanOrEqual(1500);
  });

  it('counts for a run: when its node dies, another one has the permit that soon', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(LONG), await nodes.node(LONG)];
    const { work, started, end } = openEnd();
    const running = one.gatekeeper.run('job', work, { duration: '2s' });
    await started;
    await nodes.time.advance(5000);
    one.store.script = () => new Promise(() => {});
    await nodes.time.advance(2600);
    expect(await other.gatekeeper.tryAcquire('job')).toBeDefined();
    end();
    await running;
  });

  it('counts also when it is longer than the definition says', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    await node.gatekeeper.tryAcquire('job', { duration: '1m', keepAlive: true });
    expect(await refreshes(node, nodes, 61_000)).toBeGreaterThan(0);
    expect(await left(nodes)).toBeGreaterThan(39_000);
  });

  it('counts for extend() and refresh() that name none', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node(LONG);
    const permit = (await gatekeeper.tryAcquire('job', { duration: '5s' }))!;
    await nodes.time.advance(3000);
    await permit.extend();
    expect(permit.remaining).toBe(4500);
    await nodes.time.advance(3000);
    expect(await gatekeeper.refresh(permit)).toBe(true);
    expect(permit.remaining).toBe(4500);
  });

  it('counts again after an extension, which is for once', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node(LONG);
    const permit = (await gatekeeper.tryAcquire('job', { duration: '5s' }))!;
    await permit.extend('1m');
    await nodes.time.advance(58_000);
    await permit.extend();
    expect(permit.remaining).toBe(4500);
  });

  it('is the longest of those who share the permit', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node(LONG);
    const permit = (await gatekeeper.tryAcquire('job', { duration: '5s' }))!;
    await gatekeeper.tryAcquire('job', { duration: '20s' });
    await gatekeeper.tryAcquire('job', { duration: '3s' });
    await nodes.time.advance(19_000);
    await permit.extend();
    expect(permit.remaining).toBe(19_500);
    await gatekeeper.tryAcquire('job');
    expect(permit.remaining).toBe(HOUR - 500);
    await nodes.time.advance(HOUR - 1000);
    await permit.extend();
    expect(permit.remaining).toBe(HOUR - 500);
  });

  it('gives way to the definition from the next refresh on when that is edited to a shorter one', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node(LONG);
    const permit = (await gatekeeper.tryAcquire('job', { duration: '1m', keepAlive: true }))!;
    await gatekeeper.definitions.edit('job', { duration: '50s' }, BY_ANN);
    await nodes.time.advance(30_000);
    await permit.extend();
    expect(permit.remaining).toBe(49_500);
    await gatekeeper.definitions.edit('job', { duration: '40m' }, BY_ANN);
    await nodes.time.advance(30_000);
    await permit.extend();
    expect(permit.remaining).toBe(49_500);
  });

  it('stays when the definition is edited to one that is shorter than before, and longer than it', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node(LONG);
    const permit = (await gatekeeper.tryAcquire('job', { duration: '5s' }))!;
    await gatekeeper.definitions.edit('job', { duration: '10m' }, BY_ANN);
    await nodes.time.advance(1000);
    await permit.extend();
    expect(permit.remaining).toBe(4500);
  });

  it('is the one that the definition has now where the call named none', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    const permit = (await gatekeeper.tryAcquire('job'))!;
    await gatekeeper.definitions.edit('job', { duration: '20s' }, BY_ANN);
    await permit.extend();
    expect(permit.remaining).toBe(19_500);
  });

  it('is replaced by the shortest that the node can keep, after an edit to one that is too short for its clocks', async () => {
    const nodes = cluster();
    const node = await nodes.node({ definitions: [{ name: 'job', duration: '10s' }], clockTolerance: 500 });
    const exact = await nodes.node({ definitions: [], clockTolerance: 10 });
    const byDefinition = (await node.gatekeeper.tryAcquire('job', { keepAlive: true }))!;
    await exact.gatekeeper.definitions.edit('job', { duration: 100, permits: 2 }, BY_ANN);
    const own = (await node.gatekeeper.tryAcquire('job', { holder: 'own', duration: '2s', keepAlive: true }))!;
    await exact.gatekeeper.definitions.edit('job', { duration: 90 }, BY_ANN);
    await nodes.time.advance(60_000);
    expect([byDefinition.isHeld, own.isHeld, node.of('lost')]).toEqual([true, true, []]);
    expect(byDefinition.remaining).toBeLessThanOrEqual(1001);
    await Promise.all([byDefinition.extend(), own.extend()]);
    expect([byDefinition.remaining, own.remaining]).toEqual([1001, 1001]);
  });

  it('outlives the loss of all data', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node(LONG);
    const permit = (await gatekeeper.tryAcquire('job', { duration: '5s' }))!;
    await nodes.overwrite(undefined);
    await permit.extend();
    await nodes.time.advance(1000);
    await permit.extend();
    expect(permit.remaining).toBe(4500);
  });

  it('counts for programs that are no nodes, whichever node they ask', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(LONG), await nodes.node(LONG)];
    const permit = await taken(one, { duration: 5000 });
    await nodes.time.advance(1000);
    expect(await partsOf(other.gatekeeper).external.refresh(permit)).toMatchObject({
      outcome: 'granted',
      remaining: 4500,
    });
    await nodes.time.advance(1000);
    expect(await take(other, { duration: 5000 })).toMatchObject({ outcome: 'granted', remaining: 4500 });
    expect(await partsOf(other.gatekeeper).external.refresh(permit, { duration: 9000 })).toMatchObject({
      remaining: 8500,
    });
    await nodes.time.advance(8000);
    expect(await partsOf(one.gatekeeper).external.refresh(permit)).toMatchObject({
      outcome: 'granted',
      remaining: 4500,
    });
  });
});
