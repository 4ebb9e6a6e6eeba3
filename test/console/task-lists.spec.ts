import { memory, single } from 'nestjs-gatekeeper';
import { partsOf } from '../../lib/gatekeeper/parts.js';
import { until } from '../support/apps.js';
import { expectProblem } from './api.contract.js';
import { PLATFORMS, SETTINGS, TOKENS, useConsoles } from './consoles.js';

const LIMITED = 'token-of-lisa-0123456789';
const console = {
  tokens: [...SETTINGS.tokens!, { token: LIMITED, name: 'lisa', role: 'view', names: 'task:mail' } as const],
};

const NODE = { acquirer: 'app2', heartbeat: 100 };

describe.each(PLATFORMS)('lists of tasks on %s', (platform) => {
  const start = useConsoles();
  async function filled() {
    const server = await start({ platform, console });
    const { tasks } = server.gatekeeper;
    const data = { secret: 'Ada Lovelace' };
    const names = Array.from({ length: 30 }, (_, index) => single('mail', `${index}`));
    await tasks.submitMany([...names, single('letter', 'one')].map((name) => ({ name, data })));
    return server;
  }

  it('come page by page, each task once, without data', async () => {
    const { get } = await filled();
    const ids: string[] = [];
    let pages = 0;
    for (let next: string | undefined = ''; next !== undefined; pages++) {
      const { json, text } = await get(`/api/tasks?type=mail&limit=7${next && `&from=${next}`}`);
      ids.push(...json.tasks.map(({ id }: { id: string }) => id));
      expect(text).not.toContain('Lovelace');
      next = json.next;
      // Anyone can read it.
      expect(Buffer.from(next ?? '', 'base64url').toString()).not.toMatch(/Lovelace|data/);
    }
    expect([new Set(ids).size, ids.length, pages]).toEqual([30, 30, 5]);
  });

  it('tell nothing of the data of the next life, to the role view', async () => {
    const server = await start({ platform, console });
    const { tasks } = server.gatekeeper;
    const began = new Promise<void>((begin) => {
      tasks.handlers.handle('mail', ({ signal }) => {
        begin();
        return new Promise((resolve) => signal.addEventListener('abort', resolve));
      });
    });
    tasks.handlers.start();
    const name = single('mail', 'again');
    await tasks.submit(name);
    await began;
    await tasks.submit(name, { secret: 'Ada Lovelace' }, { unique: { during: 'waiting' } });
    for (const path of ['/api/tasks?state=running', `/api/tasks/${encodeURIComponent(name.id)}`]) {
      const { text } = await server.get(path, { token: LIMITED });
      expect(text).toContain('"next":{"priority":"normal"}');
      expect(text).not.toContain('Lovelace');
    }
    await tasks.cancel(name);
  });

  it('show a limited token only its types', async () => {
    const { get } = await filled();
    const as = { token: LIMITED };
    expect((await get('/api/tasks', as)).text).not.toContain('letter');
    expect((await get('/api/task-types', as)).json.waiting).toMatchObject([{ type: 'mail' }]);
    expectProblem(await get('/api/tasks?type=letter', as), 403, 'token-limited');
    expect((await get('/api/task-types', { token: TOKENS.view })).json.waiting).toHaveLength(2);
  });

  it('say that types are left out, and list those that the token may see before they are cut', async () => {
    const server = await filled();
    const names = Array.from({ length: 100 }, (_, index) => single(`a-${index}`, 'one'));
    await server.gatekeeper.tasks.submitMany(names.map((name) => ({ name })));
    const all = (await server.get('/api/task-types')).json;
    expect([all.waiting.length, all.isCut]).toEqual([100, true]);
    expect(all.waiting.map(({ type }: { type: string }) => type)).not.toContain('mail');
    const own = (await server.get('/api/task-types', { token: LIMITED })).json;
    expect(own).toMatchObject({ waiting: [{ type: 'mail' }], isCut: false });
  });

  it('say how many tasks they leave out because this node can not read them', async () => {
    const server = await filled();
    const client = partsOf(server.gatekeeper).openStore();
    const [first] = await client.tasks.range('w|mail', 'w}', 1);
    await client.tasks.compareAndSet(first!.key, first!.text, first!.text.replace('"v":1', '"v":99'));
    await client.close();
    const { json } = await server.get('/api/tasks?type=mail');
    expect([json.tasks.length, json.leftOut]).toEqual([29, 1]);
  });

  it('of types say about how many wait, and what each node does with them', async () => {
    const store = memory();
    const [one, other] = [
      await start({ platform, store, console }),
      await start({ platform, store, gatekeeper: NODE }),
    ];
    const { tasks } = other.gatekeeper;
    tasks.handlers.handle('mail', () => undefined, { concurrency: 2 });
    tasks.handlers.handle('letter', () => Promise.reject(new Error('no paper')));
    tasks.handlers.start();
    await tasks.submitMany(['a', 'b', 'c'].map((name) => ({ name: single('mail', name) })));
    await tasks.submit(single('letter', 'a'), undefined, { maxAttempts: 1 });
    await until(async () => (await tasks.find('letter:a'))?.state === 'failed');
    tasks.handlers.pauseType('letter');
    await tasks.submitMany(['b', 'c'].map((name) => ({ name: single('letter', name) })));
    const types = async () => (await one.get('/api/task-types')).json;
    const works = async () => (await types()).nodes.flatMap((each: { types: object[] }) => each.types);
    await until(async () => (await works()).some(({ completed }: { completed: number }) => completed === 3));
    await until(async () => (await works()).some(({ obstacle }: { obstacle?: string }) => obstacle === 'paused-here'));
    expect(await types()).toMatchObject({
      waiting: [{ type: 'letter', waiting: 2 }],
      here: [],
      nodes: [
        {
          node: { acquirer: 'app2' },
          types: [
            { type: 'mail', handles: 'tasks', concurrency: 2, running: 0, completed: 3, failed: 0 },
            { type: 'letter', obstacle: 'paused-here', completed: 0, failed: 1 },
          ],
        },
      ],
    });
    const seen = (await one.get('/api/task-types', { token: LIMITED })).text;
    expect([seen.includes('mail'), seen.includes('letter')]).toEqual([true, false]);
    expect((await one.get('/api/nodes', { token: LIMITED })).text).not.toContain('letter');
  });

  it('of types count what programs end through a node', async () => {
    const server = await filled();
    const [task] = (await server.send('POST', '/api/tasks/claim', { types: ['letter'] })).json.tasks;
    await server.send('POST', `/api/tasks/${encodeURIComponent(task.id)}/complete`, { token: task.token });
    const { nodes } = (await server.get('/api/task-types')).json;
    expect(nodes[0].types).toMatchObject([{ type: 'letter', handles: 'programs', completed: 1, failed: 0 }]);
  });

  it.each([
    'state=done',
    'limit=101',
    'type=a:b',
    'from=xyz',
    `from=${Buffer.from('f|x').toString('base64url')}`,
    'x=1',
  ])('are refused with %s', async (query) => {
    const { get } = await start({ platform });
    expectProblem(await get(`/api/tasks?${query}`), 400, 'invalid-options');
  });
});
