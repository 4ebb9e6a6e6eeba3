import { until } from '../support/apps.js';
import { expectProblem } from './api.contract.js';
import { type Console, PLATFORMS, SETTINGS, TOKENS, useConsoles } from './consoles.js';

const definitions = ['a-one', 'a-two', 'b-one'].map((name) => ({ name, duration: '10s' }));
const LIMITED = { token: 'token-of-lisa-0123456789', name: 'lisa', role: 'operate' as const, names: 'a-.*' };

describe.each(PLATFORMS)('maintenance over the API on %s', (platform) => {
  const start = useConsoles();
  const boot = async (): Promise<Console> => {
    const settings = { ...SETTINGS, tokens: [...SETTINGS.tokens!, LIMITED] };
    const console = await start({ platform, gatekeeper: { definitions }, console: settings });
    await until(async () => (await console.gatekeeper.state()).semaphores.length === definitions.length);
    return console;
  };
  const operate = { token: TOKENS.operate };

  it('starts, shows and ends a window as the visitor', async () => {
    const { send, get, gatekeeper } = await boot();
    const body = { window: 'db', names: ['a-.*', 'b-.*'], reason: 'it moves' };
    const started = await send('POST', '/api/maintenance', body, operate);
    expect(started.json).toMatchObject({ paused: ['a-one', 'a-two', 'b-one'], left: [], remaining: 0 });
    await gatekeeper.definitions.edit('b-one', { permits: 4 }, { by: 'cleo' });
    const { windows } = (await get('/api/maintenance', { token: TOKENS.view })).json;
    expect(windows).toMatchObject([
      { window: 'db', by: 'otto', paused: 2, notPaused: 0, permits: 0, isQuiet: true, left: [{ name: 'b-one' }] },
    ]);
    expect((await get('/api/maintenance/db')).json).toEqual(windows[0]);
    const ended = await send('POST', '/api/maintenance/db/end', { reason: 'done' }, operate);
    expect(ended.json).toMatchObject({ resumed: ['a-one', 'a-two'], left: [{ name: 'b-one' }], remaining: 0 });
    expect((await gatekeeper.definitions.get('a-one'))?.change).toMatchObject({ by: 'otto', reason: 'done' });
    expectProblem(await get('/api/maintenance/db'), 404, 'unknown-maintenance');
  });

  it('refuses what is wrong, and what another window forbids', async () => {
    const { send } = await boot();
    const post = (body: object) => send('POST', '/api/maintenance', body, operate);
    expectProblem(await post({ window: 'db', names: [] }), 400, 'invalid-options');
    expectProblem(await post({ window: 'db', names: ['('] }), 400, 'invalid-options');
    expectProblem(await post({ window: 'db', names: Array(21).fill('a') }), 400, 'invalid-options');
    expectProblem(await post({ window: 'db', names: ['a'], reason: 'x'.repeat(701) }), 400, 'invalid-options');
    expectProblem(await post({ window: 'db', names: ['none'] }), 404, 'nothing-matches');
    expect((await post({ window: 'db', names: ['a-.*'], limit: 1 })).json).toMatchObject({ remaining: 1 });
    expectProblem(await post({ window: 'db', names: ['b-.*'] }), 409, 'maintenance-conflict');
    expectProblem(await send('POST', '/api/maintenance/none/end', {}, operate), 404, 'unknown-maintenance');
  });

  it('of a limited token pauses, shows and ends only its own names', async () => {
    const { send, get, gatekeeper } = await boot();
    const limited = { token: LIMITED.token };
    await send('POST', '/api/maintenance', { window: 'theirs', names: ['b-.*'] });
    await send('POST', '/api/maintenance', { window: 'all', names: ['.*'] });
    const windows = async () => (await get('/api/maintenance', limited)).json.windows;
    expect(await windows()).toMatchObject([{ window: 'all', semaphores: ['a-one', 'a-two'] }]);
    const open = (await get('/api/open-windows', limited)).json.windows;
    expect(open).toEqual([{ window: 'all', by: expect.any(String), since: expect.any(Number), phase: 'on' }]);
    expectProblem(await get('/api/maintenance/theirs', limited), 404, 'unknown-maintenance');
    for (const window of ['theirs', 'all']) {
      expectProblem(await send('POST', `/api/maintenance/${window}/end`, {}, limited), 403, 'token-limited');
    }
    expect((await gatekeeper.definitions.maintenance.list()).map(({ phase }) => phase)).toEqual(['on', 'on']);

    const mine = await send('POST', '/api/maintenance', { window: 'mine', names: ['.*'] }, limited);
    expect(mine.json).toMatchObject({ paused: [], shared: ['a-one', 'a-two'] });
    expect((await send('POST', '/api/maintenance/mine/end', {}, limited)).json).toMatchObject({ resumed: [] });
  });
});
