import { GatekeeperService, memory } from 'nestjs-gatekeeper';
import { until } from '../support/apps.js';
import { expectProblem } from './api.contract.js';
import { type Console, PLATFORMS, SETTINGS, TOKENS, useConsoles } from './consoles.js';
import { failingStore } from './failing-store.js';

const leadership = { enabled: true };
const leaderOf = ({ gatekeeper }: Console) => gatekeeper.cluster.scope();

describe.each(PLATFORMS)('leadership over the API on %s', (platform) => {
  const start = useConsoles();
  /** app1 and app2 take part, and app1 leads; app3 has only a console. */
  async function three() {
    const store = memory();
    const node = (acquirer: string, options = {}) => start({ platform, store, gatekeeper: { acquirer, ...options } });
    const one = await node('app1', { leadership, metadata: { url: 'http://app1' } });
    await leaderOf(one).whenLeader();
    const two = await node('app2', { leadership });
    const outsider = await node('app3');
    await until(async () => (await outsider.get('/api/leaders')).json.scopes[0]?.candidates === 2);
    return { one, two, outsider };
  }

  it('lists scopes and members through a node that takes no part', async () => {
    const { one, two, outsider } = await three();
    const { status, json } = await outsider.get('/api/leaders', { token: TOKENS.view });
    expect(status).toBe(200);
    expect(json.scopes).toMatchObject([
      { scope: 'default', semaphore: 'leader:default', leader: one.gatekeeper.node, candidates: 2, lease: 10_000 },
    ]);
    expect(json.scopes[0].term).toBe(leaderOf(one).term!.token);
    expect(json.members).toMatchObject([
      { acquirer: 'app1', state: 'living', metadata: { url: 'http://app1' }, scopes: ['default'] },
      { acquirer: 'app2', state: 'living', metadata: {}, instance: two.gatekeeper.node.instance },
    ]);
  });

  it('asks the leader to step down, transfers, and shows the terms with who ended them', async () => {
    const { one, two, outsider } = await three();
    const path = '/api/leaders/default';
    const asked = await outsider.send('POST', `${path}/step-down`, { reason: 'slow' }, { token: TOKENS.operate });
    expect([asked.status, asked.json]).toEqual([200, { asked: true }]);
    await leaderOf(two).whenLeader();
    const body = { node: one.gatekeeper.node.instance };
    expect((await outsider.send('POST', `${path}/transfer`, body)).json).toEqual({ asked: true });
    await leaderOf(one).whenLeader();
    expect((await outsider.send('POST', `${path}/transfer`, body)).json).toEqual({ asked: false });
    await until(async () => (await outsider.get(path)).json.terms.length === 3);
    await until(async () => (await outsider.get(path)).json.terms[1].change !== undefined);
    const { json } = await outsider.get(path);
    expect(json.terms).toMatchObject([
      { node: one.gatekeeper.node },
      { node: two.gatekeeper.node, ended: 'other-preferred', change: { action: 'transfer', by: 'dora' } },
      {
        node: one.gatekeeper.node,
        ended: 'other-preferred',
        change: { action: 'step-down', by: 'otto', reason: 'slow' },
      },
    ]);
    expect(json.candidates).toMatchObject([
      { acquirer: 'app1', sentence: 'leads' },
      { acquirer: 'app2', reason: 'no-permit', sentence: 'waits while app1 leads' },
    ]);
  });

  it('refuses a scope or a node that does not exist', async () => {
    const { outsider } = await three();
    const unknown = await outsider.get('/api/leaders/other');
    expectProblem(unknown, 404, 'unknown-semaphore');
    expect(unknown.json.detail).toContain(
      'no node has the scope "other": correct it, or add it to the option leadership.scopes',
    );
    expectProblem(await outsider.send('POST', '/api/leaders/other/step-down'), 404, 'unknown-semaphore');
    expectProblem(await outsider.send('POST', '/api/leaders/default/transfer', { node: 'x' }), 409, 'cannot-lead');
    expectProblem(await outsider.send('POST', '/api/leaders/default/transfer', {}), 400, 'invalid-options');
  });

  it('shows a limited visitor the scopes that it may see', async () => {
    const token = 'token-of-lisa-0123456789';
    const tokens = [...SETTINGS.tokens!, { token, name: 'lisa', role: 'view', names: 'leader:a' } as const];
    const scopes = { leadership: { enabled: true, scopes: ['a', 'b'] } };
    const { get, gatekeeper } = await start({ platform, gatekeeper: scopes, console: { tokens } });
    await gatekeeper.cluster.scope('b').whenLeader();
    expect((await get('/api/leaders', { token })).json.scopes).toMatchObject([{ scope: 'a' }]);
    expect((await get('/api/leaders/a', { token })).status).toBe(200);
    expectProblem(await get('/api/leaders/b', { token }), 403, 'token-limited');
  });

  it('is an error without the store, and no empty list', async () => {
    const store = failingStore();
    const { get, app } = await start({ platform, store: store.definition, gatekeeper: { leadership } });
    await app.get(GatekeeperService).cluster.scope().whenLeader();
    store.takeAway();
    expectProblem(await get('/api/leaders'), 503, 'unavailable');
    expectProblem(await get('/api/leaders/default'), 503, 'unavailable');
    store.giveBack();
  });
});
