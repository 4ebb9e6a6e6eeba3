import { RemoteRefusedError } from '../../lib/stores/remote/index.js';
import { ROUTES, type Route } from '../../lib/console/api/index.js';
import { allocating, untilOwned } from './allocating.js';
import { expectProblem } from './api.contract.js';
import { useConsoles } from './consoles.js';
import { failingStore } from './failing-store.js';

/** About the node itself, or a description of the API. */
const NOT_OF_THE_STORE: ReadonlySet<string> = new Set(['api/session', 'api/openapi.json', 'api/events']);

const PARAMETERS: readonly (readonly [RegExp, string])[] = [
  [/:name/, 'job'],
  [/tasks\/:id/, 'tasks/mail:none'],
  [/task-groups\/:id/, 'task-groups/mail[none]'],
  [/:id/, 'none'],
  [/:scope/, 'default'],
  [/:group/, 'orders'],
  [/:window/, 'db'],
];

const reads = (Object.values(ROUTES) as Route[])
  .filter(({ method, path }) => method === 'GET' && !NOT_OF_THE_STORE.has(path))
  .map(({ path }) => PARAMETERS.reduce((text, [parameter, value]) => text.replace(parameter, value), path));

describe('the answers of the API while the store is lost', () => {
  const start = useConsoles();

  it.each([
    ['a group', allocating('ab')],
    ['no group', {}],
  ])('are refused, or name what they could not read, on a node with %s', async (_, groups) => {
    const store = failingStore();
    const gatekeeper = {
      ...groups,
      definitions: [{ name: 'job', duration: '90s' }],
      leadership: { enabled: true, lease: '1s' },
    };
    const console = await start({ store: store.definition, gatekeeper });
    if ('allocation' in groups) await untilOwned(console, ({ resources }) => resources?.length === 2);
    // Each answer was just read, and may be kept for a moment.
    for (const path of reads) await console.get(`/${path}`);
    store.takeAway();
    for (const path of [...reads, 'api/task-types?ifUsed=true', 'api/jobs?semaphore=job']) {
      if (path.includes('orders') && !('allocation' in groups)) continue;
      const { status, json } = await console.get(`/${path}`);
      const { stale = [], reason } = json;
      const isTold = status === 503 || stale.length > 0 || reason === 'unavailable';
      expect({ path, status, json, isTold }).toMatchObject({ isTold: true });
    }
    store.giveBack();
    expect((await console.get('/api/jobs')).status).toBe(200);
  });

  it('say that it is unavailable, also if its errors have codes of their own', async () => {
    const store = failingStore();
    const { get, send, log } = await start({ store: store.definition });
    store.takeAway(new RemoteRefusedError('https://host/gatekeeper answered 401: give remote() a token'));
    expectProblem(await get('/api/leaders'), 503, 'unavailable');
    expectProblem(await send('POST', '/api/semaphores', { name: 'job', duration: '90s' }), 503, 'unavailable');
    expect(log.filter((line) => line.startsWith('error'))).toEqual([]);
  });
});
