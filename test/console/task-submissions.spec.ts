import { single } from 'nestjs-gatekeeper';
import { partsOf } from '../../lib/gatekeeper/parts.js';
import { until } from '../support/apps.js';
import { expectProblem } from './api.contract.js';
import { changesByHand } from './changes-by-hand.js';
import { type Console, PLATFORMS, useConsoles } from './consoles.js';

const LIMITED = 'a-token-that-is-limited-to-mails';
const submit = ({ send }: Console, body: object, options = {}) => send('POST', '/api/tasks', body, options);
const groupAt = (id: string) => `/api/task-groups/${encodeURIComponent(id)}/cancel`;

describe.each(PLATFORMS)('a submission of a task over HTTP on %s', (platform) => {
  const start = useConsoles();
  const boot = (options = {}) => start({ platform, ...options });
  const find = ({ gatekeeper }: Console, id: string) => partsOf(gatekeeper).tasks.find(id);

  it('may wait for tasks and groups, and run although one of them failed', async () => {
    const console = await boot();
    for (const body of [{ id: 'prices:june' }, { id: 'import[june]#1', total: 1 }]) await submit(console, body);
    const after = ['prices:june', 'import[june]'];
    expect((await submit(console, { id: 'report:june', after })).json).toMatchObject({ outcome: 'created' });
    await submit(console, { id: 'clean:june', after: ['report:june'], afterFailed: 'run' });
    expect(await find(console, 'report:june')).toMatchObject({ state: 'blocked', after });
    await partsOf(console.gatekeeper).tasks.cancel('prices:june');
    await until(async () => (await find(console, 'clean:june'))?.state === 'waiting');
    expect(await find(console, 'report:june')).toMatchObject({ state: 'cancelled' });
  });

  it('may replace a task of the same key', async () => {
    const console = await boot();
    const unique = { key: 'berlin', during: 'waiting', onConflict: 'replace' };
    const first = await submit(console, { id: 'reindex:change', data: 1, unique });
    expect(first.json).toMatchObject({ id: 'reindex:berlin', outcome: 'created' });
    expect((await submit(console, { id: 'reindex:change', data: 2, unique })).json).toMatchObject({
      id: 'reindex:berlin',
      outcome: 'replaced',
    });
    expect(await find(console, 'reindex:berlin')).toMatchObject({ data: 2 });
  });

  it('may be addressed to some nodes, or have a fair key', async () => {
    const console = await boot();
    const to = { group: 'eu', acquirer: 'batch-.*', instance: 'one' };
    await submit(console, { id: 'warm-up:eu', to });
    await submit(console, { id: 'deliver:one', fairKey: 'ada' });
    expect((await find(console, 'warm-up:eu'))?.to).toEqual(to);
    expect(await find(console, 'deliver:one')).toMatchObject({ state: 'waiting', fairKey: 'ada' });
  });

  it.each([
    [{ to: {} }, /is empty: give a pattern, or group, acquirer or instance/],
    [{ to: 'batch' }, /to: /],
    [{ to: { group: 'a(' } }, /to.group: /],
    [{ to: { acquirer: 7 } }, /to.acquirer: /],
    [{ to: { instance: '' } }, /to.instance: is empty/],
    [{ to: { instance: 'x'.repeat(101) } }, /to.instance: is longer than 100/],
    [{ to: { node: 'app1' } }, /node/],
    [{ fairKey: 7 }, /fairKey: 7 is not text/],
    [{ fairKey: '' }, /fairKey: /],
    [{ fairKey: 'x'.repeat(201) }, /fairKey: is longer than 200/],
    [{ fairKey: 'ada', to: { group: 'eu' } }, /fairKey: /],
    [{ after: ['none:there'] }, /none:there/],
    [{ after: ['mail:one'] }, /after: \\"mail:one\\"/],
    [{ after: [] }, /is empty/],
    [{ after: ['no id'] }, /"no id\\" is neither/],
    [{ after: Array.from({ length: 101 }, (_, index) => `mail:${index}`) }, /more than 100/],
    [{ afterFailed: 'stop' }, /is not one of cancel, run/],
    [{ unique: { during: 'ever' } }, /is not one of waiting, unfinished/],
    [{ unique: { key: '' } }, /is empty: give 1 to 200 characters/],
  ])('that makes no sense is refused, and nothing is submitted: %j', async (options, why) => {
    const console = await boot();
    const refused = await submit(console, { id: 'mail:one', ...options });
    expect([refused.status, refused.text]).toEqual([400, expect.stringMatching(why)]);
    expect(await find(console, 'mail:one')).toBeUndefined();
  });

  it('does not wait for types that its token may not see', async () => {
    const names = { token: LIMITED, name: 'limited', role: 'operate', names: 'task:mail' } as const;
    const console = await boot({ console: { tokens: [names] } });
    await partsOf(console.gatekeeper).tasks.submit(single('secret', 'one'));
    const refused = await submit(console, { id: 'mail:one', after: ['secret:one'] }, { token: LIMITED });
    expectProblem(refused, 403, 'token-limited');
    const group = await console.send('POST', groupAt('secret[june]'), {}, { token: LIMITED });
    expectProblem(group, 403, 'token-limited');
  });
});

describe.each(PLATFORMS)('a group of tasks over HTTP on %s', (platform) => {
  const start = useConsoles();

  it('is cancelled with all its members, also those that come later, and stands in the audit log', async () => {
    const console = await start({ platform });
    const { tasks } = partsOf(console.gatekeeper);
    await submit(console, { id: 'import[ju/ne]#1' });
    const answer = await console.send('POST', groupAt('import[ju/ne]'), { reason: 'wrong month' });
    expect(answer).toMatchObject({ status: 200, json: { id: 'import[ju/ne]', outcome: 'cancelled' } });
    await submit(console, { id: 'import[ju/ne]#2', total: 2 });
    await until(async () => (await tasks.find('import[ju/ne]#2'))?.state === 'cancelled');
    expect(await tasks.find('import[ju/ne]#1')).toMatchObject({ cancel: { by: 'dora', reason: 'wrong month' } });
    expect((await console.send('POST', groupAt('import[ju/ne]'), {})).json).toMatchObject({ outcome: 'ended' });
    const entries = async () => changesByHand((await console.get('/api/audit?semaphore=task:import')).json.entries);
    await until(async () => (await entries()).length > 0);
    expect(await entries()).toMatchObject([{ action: 'cancel-group', by: 'dora', task: 'import[ju/ne]' }]);
  });

  it('that is not there, or none, is reported', async () => {
    const { send } = await start({ platform });
    expectProblem(await send('POST', groupAt('import[none]'), {}), 404, 'unknown-task');
    expect((await send('POST', groupAt('import:none'), {})).text).toMatch(/is not \\"type\[group\]\\"/);
  });
});
