import { memory } from 'nestjs-gatekeeper';
import { until } from '../support/apps.js';
import { removed } from '../support/removed.js';
import { expectProblem } from './api.contract.js';
import { SETTINGS, TOKENS, useConsoles } from './consoles.js';

const LIMITED = 'token-of-lisa-0123456789';
const definitions = ['mine-1', 'mine-2', 'other'].map((name) => ({ name, duration: '10s' }));

describe('POST /api/reset', () => {
  const start = useConsoles();

  async function edited() {
    const tokens = [...SETTINGS.tokens!, { token: LIMITED, name: 'lisa', role: 'define', names: 'mine-.*' } as const];
    const app = await start({ console: { tokens }, gatekeeper: { definitions } });
    for (const { name } of definitions) await app.send('PATCH', `/api/semaphores/${name}`, { permits: 5 });
    const permits = async () =>
      (await app.gatekeeper.state()).semaphores.map(({ definition }) => definition?.permits ?? 'none');
    return { ...app, permits };
  }

  it('takes what matches back to the code', async () => {
    const { send, permits, gatekeeper } = await edited();
    await removed(gatekeeper, 'mine-2');
    const { status, json } = await send('POST', '/api/reset', { names: 'mine-.*' }, { token: TOKENS.define });
    expect({ status, json }).toMatchObject({ status: 200, json: { done: ['mine-1', 'mine-2'], failed: [] } });
    expect(await permits()).toEqual([1, 1, 5]);
  });

  it.each(['view', 'operate'] as const)('is refused to the role %s, and changes nothing', async (role) => {
    const { send, permits } = await edited();
    expect((await send('POST', '/api/reset', {}, { token: TOKENS[role] })).status).toBe(403);
    expect(await permits()).toEqual([5, 5, 5]);
  });

  it('resets only names that the visitor may see', async () => {
    const { send, permits } = await edited();
    const { json } = await send('POST', '/api/reset', {}, { token: LIMITED });
    expect(json).toMatchObject({ done: ['mine-1', 'mine-2'], remaining: 0 });
    expect(await permits()).toEqual([1, 1, 5]);
  });

  it('says that no code has what matches', async () => {
    const { send } = await edited();
    expectProblem(await send('POST', '/api/reset', { names: 'nothing' }), 409, 'not-in-code');
  });
});

describe('DELETE of what code defines', () => {
  const start = useConsoles();

  it('is refused, and what was removed nevertheless stays in the list with a warning', async () => {
    const { get, send, gatekeeper } = await start({ gatekeeper: { definitions } });
    expectProblem(await send('DELETE', '/api/semaphores/other', {}), 409, 'defined-in-code');
    expect((await get('/api/semaphores/other')).json.definedBy).toEqual(['app1']);
    await removed(gatekeeper, 'other');
    const { semaphores } = (await get('/api/semaphores?search=oth')).json;
    expect(semaphores).toMatchObject([{ name: 'other', warnings: [{ code: 'removed' }] }]);
  });

  it('is foreseen by a node whose own code does not define it, and not for what an operator defined', async () => {
    const store = memory();
    await start({ store, gatekeeper: { acquirer: 'app1', definitions } });
    const { get, send } = await start({ store, gatekeeper: { acquirer: 'app2' } });
    await send('POST', '/api/semaphores', { name: 'by-hand', duration: '10s' });
    const definedBy = async (name: string) => (await get(`/api/semaphores/${name}`)).json.definedBy;
    await until(async () => (await get('/api/nodes')).json.nodes.length === 2);
    expect([await definedBy('other'), await definedBy('by-hand')]).toEqual([['app1'], []]);
    expectProblem(await send('DELETE', '/api/semaphores/other', {}), 409, 'defined-in-code');
    expect((await send('DELETE', '/api/semaphores/by-hand', {})).json).toEqual({ removed: true });
  });
});
