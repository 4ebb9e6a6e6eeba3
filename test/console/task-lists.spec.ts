import { describe, expect, it } from '@jest/globals';
import { single } from 'nestjs-gatekeeper';
import { expectProblem } from './api.contract.js';
import { PLATFORMS, SETTINGS, TOKENS, useConsoles } from './consoles.js';

const LIMITED = 'token-of-lisa-0123456789';
const console = {
  tokens: [...SETTINGS.tokens!, { token: LIMITED, name: 'lisa', role: 'view', names: 'task:mail' } as const],
};

describe.each(PLATFORMS)('lists of tasks on %s', (platform) => {
  const start = useConsoles();
  async function filled() {
    const server = await start({ platform, console });
    const { tasks } = server.gatekeeper;
    const data = { secret: 'ada' };
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
      expect(text).not.toContain('ada');
      next = json.next;
      // Anyone can read it.
      expect(Buffer.from(next ?? '', 'base64url').toString()).not.toMatch(/ada|data/);
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
    await tasks.submit(name, { secret: 'ada' }, { unique: { during: 'waiting' } });
    for (const path of ['/api/tasks?state=running', `/api/tasks/${encodeURIComponent(name.id)}`]) {
      const { text } = await server.get(path, { token: LIMITED });
      expect(text).toContain('"next":{"priority":"normal"}');
      expect(text).not.toContain('ada');
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
