import { grouped, single } from 'nestjs-gatekeeper';
import type { TaskGroupOverview } from '../../lib/tasks/index.js';
import { unfinishedThenNewest } from '../../lib/tasks/overview/task-groups.js';
import { partsOf } from '../../lib/gatekeeper/parts.js';
import { until } from '../support/apps.js';
import { expectProblem } from './api.contract.js';
import { type Console, PLATFORMS, SETTINGS, TOKENS, useConsoles } from './consoles.js';

const LIMITED = 'token-of-lisa-0123456789';
const console = {
  tokens: [...SETTINGS.tokens!, { token: LIMITED, name: 'lisa', role: 'view', names: 'task:mail' } as const],
};
const ID = encodeURIComponent('import[june]');

describe.each(PLATFORMS)('groups of tasks over HTTP on %s', (platform) => {
  const start = useConsoles();

  /** Of 5 members 3 were submitted: one completed, one failed, one waits. */
  async function begun(): Promise<Console> {
    const server = await start({ platform, console });
    const { tasks } = partsOf(server.gatekeeper);
    tasks.handlers.handle('import', ({ data }) => (data === 2 ? Promise.reject(new Error('no file')) : 'secret'));
    tasks.handlers.start();
    const submit = (number: number) => tasks.submit(grouped('import', 'june', number, 5), number, { maxAttempts: 1 });
    await Promise.all([submit(1), submit(2)]);
    await until(async () => (await server.get(`/api/task-groups/${ID}`)).json?.group.ended === 2);
    tasks.handlers.pauseType('import');
    await submit(4);
    return server;
  }

  it('have counts, their members page by page, and the numbers that are not there', async () => {
    const { get } = await begun();
    const { json, text } = await get(`/api/task-groups/${ID}?limit=3`, { token: TOKENS.operate });
    expect(json).toMatchObject({
      group: { id: 'import[june]', type: 'import', name: 'june', state: 'open', total: 5, ended: 2, failed: 1 },
      members: [
        { id: 'import[june]#1', state: 'completed' },
        { id: 'import[june]#2', state: 'failed' },
      ],
      missing: [3],
      leftOut: 0,
      next: 4,
    });
    expect(text).not.toContain('secret');
    const last = (await get(`/api/task-groups/${ID}?from=4`)).json;
    expect([last.members.map(({ id }: { id: string }) => id), last.missing, last.next]).toEqual([
      ['import[june]#4'],
      [5],
      undefined,
    ]);
  });

  it('whose total is not known have pages up to their last member, also behind a gap in the numbers', async () => {
    const { get, send } = await start({ platform });
    for (const number of [150, 151, 320]) await send('POST', '/api/tasks', { id: `import[june]#${number}` });
    const found: string[] = [];
    const pages: number[] = [];
    for (let from: number | undefined = 1; from !== undefined;) {
      const page: { members: { id: string }[]; next?: number } = (await get(`/api/task-groups/${ID}?from=${from}`))
        .json;
      found.push(...page.members.map(({ id }) => id));
      pages.push(from);
      from = page.next;
    }
    expect(found).toEqual([150, 151, 320].map((number) => `import[june]#${number}`));
    expect(pages).toEqual([1, 101, 201, 301]);
    expect((await get(`/api/task-groups/${ID}?from=2&limit=3`)).json).toMatchObject({ members: [], next: 5 });
  });

  it('are found by their tasks, and hidden from a token for other types', async () => {
    const { get } = await begun();
    expect((await get('/api/task-groups')).json).toMatchObject({ groups: [{ id: 'import[june]' }], isCut: false });
    expect((await get('/api/task-groups?type=mail')).json.groups).toEqual([]);
    expect((await get('/api/task-groups', { token: LIMITED })).json.groups).toEqual([]);
    expectProblem(await get(`/api/task-groups/${ID}`, { token: LIMITED }), 403, 'token-limited');
    expectProblem(await get(`/api/task-groups/${encodeURIComponent('import[may]')}`), 404, 'unknown-task');
    expectProblem(await get('/api/task-groups/import:june'), 400, 'invalid-options');
  });

  it('are listed with the newest first', async () => {
    const { get, send } = await start({ platform });
    for (const group of ['april', 'may', 'august']) {
      await send('POST', '/api/tasks', { id: `import[${group}]#1` });
      const { begunAt } = (await get(`/api/task-groups/${encodeURIComponent(`import[${group}]`)}`)).json.group;
      await until(() => Date.now() > begunAt + 20);
    }
    const { groups } = (await get('/api/task-groups')).json as { groups: { name: string }[] };
    expect(groups.map(({ name }) => name)).toEqual(['august', 'may', 'april']);
  });

  it('are stopped by operators, who stand in the audit log', async () => {
    const { get, send } = await begun();
    const stop = () => send('POST', `/api/task-groups/${ID}/cancel`, { reason: 'wrong month' });
    expect((await stop()).json).toMatchObject({ id: 'import[june]', outcome: 'cancelled' });
    expect((await get(`/api/task-groups/${ID}`)).json.group).toMatchObject({
      ended: 3,
      failed: 2,
      stopped: { by: 'dora', reason: 'wrong month' },
    });
    const audit = async () => (await get('/api/audit?semaphore=task:import')).json.entries;
    await until(async () => (await audit()).length === 1);
    expect(await audit()).toMatchObject([
      { action: 'cancel-group', by: 'dora', reason: 'wrong month', task: 'import[june]' },
    ]);
  });

  it('of sub-tasks stand below their parent, with the single ones', async () => {
    const server = await start({ platform, console });
    const { tasks } = partsOf(server.gatekeeper);
    tasks.handlers.handle('reconcile', async ({ submit }) => {
      await submit(single('letter', 'a'));
      await submit(grouped('account', 'all', 1, 2));
      await submit(grouped('account', 'all', 2, 2));
    });
    tasks.handlers.start();
    await tasks.submit(single('reconcile', 'june'));
    const path = `/api/tasks/${encodeURIComponent('reconcile:june')}`;
    await until(async () => (await server.get(path)).json.task.state === 'awaiting');
    expect((await server.get(path)).json.task.split).toBe(true);
    expect((await server.get(`${path}/sub-tasks`)).json.subTasks).toMatchObject([
      { task: { type: 'letter', state: 'waiting', parent: 'reconcile:june' } },
      { group: { type: 'account', name: 'all', total: 2, ended: 0 } },
    ]);
    expectProblem(await server.get('/api/tasks/mail:none/sub-tasks'), 404, 'unknown-task');
  });

  it('say which groups and sub-tasks this node can not read', async () => {
    const server = await start({ platform, console });
    const { tasks } = partsOf(server.gatekeeper);
    tasks.handlers.handle('reconcile', async ({ submit }) => {
      await submit(single('letter', 'a'));
      await submit(grouped('account', 'all', 1, 2));
    });
    tasks.handlers.start();
    await tasks.submit(grouped('reconcile', 'june', 1, 2));
    const parent = `/api/tasks/${encodeURIComponent('reconcile[june]#1')}`;
    await until(async () => (await server.get(parent)).json.task.state === 'awaiting');
    const subTasks = async () => (await server.get(`${parent}/sub-tasks`)).json.subTasks;
    const [letter, account] = await subTasks();
    await makeNewer(server, 'tasks', letter.id);
    await makeNewer(server, 'groups', `root:${account.id}`);
    expect(await subTasks()).toEqual([
      { id: letter.id, isUnreadable: true },
      { id: account.id, isUnreadable: true },
    ]);
    const found = (await server.get('/api/task-groups')).json;
    expect(found.groups.map(({ id }: { id: string }) => id)).toEqual(['reconcile[june]']);
    expect(found.leftOut).toBe(1);
  });

  it('say that the task of their handler can not be read by this node', async () => {
    const server = await start({ platform, console });
    const { tasks } = partsOf(server.gatekeeper);
    tasks.handlers.handle('import', () => undefined);
    tasks.handlers.start();
    await tasks.submit(grouped('import', 'june', 1, 1));
    await until(async () => (await server.get(`/api/task-groups/${ID}`)).json?.handler !== undefined);
    await makeNewer(server, 'tasks', 'import[june]#join');
    const { json } = await server.get(`/api/task-groups/${ID}`);
    expect([json.handler, json.isHandlerUnreadable, json.leftOut]).toEqual([undefined, true, 0]);
  });

  it('and schedules, which have their next and last times', async () => {
    const { get, gatekeeper } = await start({ platform, console });
    const { tasks } = partsOf(gatekeeper);
    tasks.schedules.add('report', '0 3 * * *', () => undefined, { mode: 'queue' });
    tasks.start();
    const { schedules, now } = (await get('/api/schedules')).json;
    expect(schedules).toMatchObject([
      { name: 'report', type: 'cron.report', expression: '0 3 * * *', mode: 'queue', isHere: true, waiting: 0 },
    ]);
    expect(schedules[0].next).toBeGreaterThan(now);
    expect((await get('/api/schedules', { token: LIMITED })).json.schedules).toEqual([]);
  });

  it('and schedules whose records this node can not read, by their names', async () => {
    const server = await start({ platform, console });
    const { tasks } = partsOf(server.gatekeeper);
    tasks.schedules.add('report', '0 3 * * *', () => undefined);
    tasks.start();
    const client = partsOf(server.gatekeeper).openStore();
    await client.tasks.compareAndSet('@import', undefined, 'p|import|{"v":99}');
    await client.close();
    expect((await server.get('/api/schedules')).json.schedules).toEqual([
      { name: 'import', type: 'cron.import', isHere: false, isUnreadable: true, waiting: 0, skipped: [] },
      expect.objectContaining({ name: 'report', isHere: true, expression: '0 3 * * *' }),
    ]);
    expect((await server.get('/api/schedules', { token: LIMITED })).json.schedules).toEqual([]);
  });
});

/** A newer version writes a record. */
async function makeNewer({ gatekeeper }: Console, kind: 'tasks' | 'groups', key: string): Promise<void> {
  const client = partsOf(gatekeeper).openStore();
  const texts = client[kind];
  const text = (await texts.read(key))!;
  await texts.compareAndSet(key, text, text.replace('"v":1', '"v":99'));
  await client.close();
}

describe('a type of tasks', () => {
  const start = useConsoles();

  it('is switched off and on by its node only, and stands in the audit log', async () => {
    const { gatekeeper, get, send } = await start();
    const { tasks, context } = partsOf(gatekeeper);
    tasks.handlers.handle('mail', () => undefined);
    const ask = (verb: string, node: string) => send('POST', `/api/task-types/mail/${verb}`, { node, reason: 'spam' });
    const { instance } = context.node;
    expect((await ask('off', instance)).json).toEqual({
      type: 'mail',
      isOff: true,
      note: expect.stringContaining('until it is switched on again, or restarts: then it takes them again'),
    });
    expect(tasks.handlers.types()).toMatchObject([{ obstacle: 'paused-here' }]);
    expect((await ask('on', instance)).json).toMatchObject({ type: 'mail', isOff: false });
    expect(tasks.handlers.types()[0]!.obstacle).toBeUndefined();
    expectProblem(await ask('off', 'another'), 409, 'other-node');
    expectProblem(await send('POST', '/api/task-types/letter/off', { node: instance }), 400, 'invalid-options');
    const audit = async () => (await get('/api/audit?semaphore=task:mail')).json.entries;
    await until(async () => (await audit()).length === 2);
    expect(await audit()).toMatchObject([
      { action: 'type-on', by: 'dora', target: { instance } },
      { action: 'type-off', by: 'dora', reason: 'spam', target: { instance } },
    ]);
  });
});

describe('the order of groups', () => {
  it('begins with those that have not ended, the newest first; those that began together go by their ids', () => {
    const of = (id: string, state: TaskGroupOverview['state'], begunAt: number) => ({ id, state, begunAt });
    const groups = [
      of('a', 'closed', 9),
      of('b', 'open', 1),
      of('d', 'joining', 5),
      of('c', 'open', 5),
      of('e', 'closed', 2),
    ] as TaskGroupOverview[];
    expect(groups.toSorted(unfinishedThenNewest).map(({ id }) => id)).toEqual(['c', 'd', 'b', 'a', 'e']);
  });
});
