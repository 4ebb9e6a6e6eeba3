import { until } from '../support/apps.js';
import { expectProblem } from './api.contract.js';
import { PLATFORMS, TOKENS, useConsoles } from './consoles.js';
import { LOST, failingStore } from './failing-store.js';

const DEFINITIONS = [{ name: 'job', duration: '10s' }];

describe.each(PLATFORMS)('the health of a node over HTTP on %s', (platform) => {
  const start = useConsoles();
  const startFailing = async () => {
    const store = failingStore();
    const console = await start({
      platform,
      store: store.definition,
      gatekeeper: { definitions: DEFINITIONS, clockTolerance: 500 },
    });
    await console.get('/api/nodes');
    // Clocks count as suspect until all have been read.
    await until(async () => (await console.get('/api/health')).json.status === 'healthy');
    return { ...console, store };
  };

  it('is well while permits are granted', async () => {
    const { get, gatekeeper } = await startFailing();
    const { status, json, headers } = await get('/api/health', { token: TOKENS.view });
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(json).toMatchObject({ status: 'healthy', grants: true, faults: [], node: gatekeeper.node });
    expect(json).not.toHaveProperty('stale');
    expect(json.store).toMatchObject({ connected: true, members: 1 });
    expectProblem(await get('/api/health', { token: null }), 401, 'no-token');
  });

  it('is 503 with the same body while nothing is granted, and says what is wrong and since when', async () => {
    const { get, store } = await startFailing();
    const before = Date.now();
    store.takeAway();
    const { status, json, headers } = await get('/api/health', { token: TOKENS.view });
    expect(status).toBe(503);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(json).toMatchObject({ status: 'down', grants: false });
    expect(json.faults).toMatchObject([{ code: 'store-unreachable', stopsGrants: true }]);
    expect(json.faults[0].sentence).toContain(LOST);
    expect(Math.abs(json.faults[0].since - before)).toBeLessThan(5000);
    expect(json.stale[0]).toMatchObject({ part: 'records', sentence: json.faults[0].sentence });
    expect(json.stale[0].since).toBeLessThanOrEqual(Date.now());
    store.giveBack();
    const after = (await get('/api/health')).json;
    expect(after).toMatchObject({ status: 'healthy' });
    expect(after).not.toHaveProperty('stale');
  });

  it('is 503 without a quorum, while what is shown is no older than ever', async () => {
    const { get, store } = await startFailing();
    store.loseQuorum();
    const { status, json } = await get('/api/health');
    expect([status, json.faults[0].code, json.stale]).toEqual([503, 'no-quorum', undefined]);
    const list = (await get('/api/semaphores')).json;
    expect(list).toMatchObject({ semaphores: [{ name: 'job' }] });
    expect(list).not.toHaveProperty('stale');
    expect((await get('/api/explain/job')).json).toMatchObject({ outcome: 'denied', reason: 'no-quorum' });
    store.giveBack();
  });

  it('every list is what was last known, with its age, or says that nothing is known', async () => {
    const { get, store, gatekeeper } = await startFailing();
    await get('/api/semaphores/job');
    store.takeAway();
    // Data that were read less than a second ago are still shown.
    await until(async () => (await get('/api/semaphores')).json.stale?.length === 3);
    const list = (await get('/api/semaphores')).json;
    expect(list.semaphores).toMatchObject([{ name: 'job' }]);
    expect(list.stale).toMatchObject(['records', 'nodes', 'runs'].map((part) => ({ part, since: expect.any(Number) })));
    const nodes = (await get('/api/nodes')).json;
    expect(nodes.nodes).toMatchObject([gatekeeper.node]);
    expect(nodes.stale).toMatchObject([{ part: 'records' }, { part: 'nodes' }, { part: 'runs' }]);
    const one = (await get('/api/semaphores/job')).json;
    expect(one.semaphore.name).toBe('job');
    expect(one.explanation).toMatchObject({ outcome: 'denied', reason: 'unavailable', stale: [{ part: 'records' }] });
    expect(one.explanation.sentence).toContain(LOST);
    // Not an empty list that looks like the truth.
    expect(one).not.toHaveProperty('runs');
    expect(one).not.toHaveProperty('audit');
    expect(one.stale.map(({ part }: { part: string }) => part).toSorted()).toEqual([
      'audit',
      'nodes',
      'records',
      'runs',
    ]);
    expectProblem(await get('/api/semaphores/other'), 503, 'unavailable');
    expectProblem(await get('/api/audit'), 503, 'unavailable');
    expectProblem(await get('/api/history'), 503, 'unavailable');
    store.giveBack();
  });

  it('a list is sent again to a client that has it, once it is stale', async () => {
    const { get, store } = await startFailing();
    const etag = (await get('/api/semaphores')).headers.get('etag')!;
    store.takeAway();
    const { status, json } = await get('/api/semaphores', { headers: { 'if-none-match': etag } });
    expect(status).toBe(200);
    expect(json.stale).toMatchObject([{ part: 'records' }, { part: 'nodes' }, { part: 'runs' }]);
    store.giveBack();
  });

  it('a bulk change is refused: for a store that is away, for a pattern that is none, and for one that matches nothing', async () => {
    const { send, store } = await startFailing();
    const to = { groupPattern: 'elsewhere' };
    for (const [path, body] of [
      ['/api/pause', {}],
      ['/api/resume', {}],
      ['/api/migrations', { to }],
      ['/api/migrations', { to, dryRun: false }],
    ] as const) {
      expectProblem(await send('POST', path, { ...body, names: 'typo.*' }), 404, 'nothing-matches');
      expectProblem(await send('POST', path, { ...body, names: '(' }), 400, 'invalid-options');
    }
    store.loseQuorum();
    expectProblem(await send('POST', '/api/pause', { names: 'job' }), 503, 'no-quorum');
    expectProblem(await send('POST', '/api/migrations', { to, dryRun: false }), 503, 'no-quorum');
    store.takeAway();
    expectProblem(await send('POST', '/api/pause', { names: 'job' }), 503, 'unavailable');
    store.giveBack();
  });

  it('explain of what is paused says by whom, since when and why', async () => {
    const { get, send } = await startFailing();
    await send('POST', '/api/semaphores/job/pause', { reason: 'maintenance' });
    const { json } = await get('/api/explain/job');
    expect(json).toMatchObject({ outcome: 'denied', reason: 'paused' });
    expect(json).not.toHaveProperty('stale');
    expect(json.pause).toMatchObject({ by: 'dora', reason: 'maintenance', groupPattern: '.*' });
    expect(json.sentence).toMatch(/ by dora .*: maintenance$/);
  });
});
