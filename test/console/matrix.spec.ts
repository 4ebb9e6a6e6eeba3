import { openApiOf } from '../../lib/console/openapi/document.js';
import { STORE_ROUTES } from '../../lib/console/api/store-routes.js';
import { LARGEST_BODY, ROLES, ROUTES, type Route } from '../../lib/console/api/index.js';
import { expectProblem } from './api.contract.js';
import { PLATFORMS, SETTINGS, TOKENS, useConsoles } from './consoles.js';

const JOB = { name: 'job', duration: '10s' };

interface Operation {
  readonly 'x-role'?: (typeof ROLES)[number];
}

/** Fields of a call's description that the document does not have. */
function routeOf(path: string, method: string): Pick<Route, 'writes' | 'largestBody'> {
  const isIt = (each: Route) =>
    `/${each.path}` === path.replaceAll(/\{(\w+)\}/g, ':$1') && each.method === method.toUpperCase();
  const { writes, largestBody } = (Object.values(ROUTES) as Route[]).find(isIt)!;
  return { ...(writes && { writes }), ...(largestBody && { largestBody }) };
}

/** Every call that the document names. */
const calls = Object.entries(
  openApiOf(Object.values(ROUTES), { mount: '/', clockTolerance: 10 })['paths'] as Record<
    string,
    Record<string, Operation>
  >,
)
  .flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ path, method, operation })),
  )
  .map(({ path, method, operation }) => ({
    name: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    path: path
      .replace('{name}', 'job')
      .replace('tasks/{id}', 'tasks/mail:none')
      .replace('task-groups/{id}', 'task-groups/mail[none]')
      .replace('{type}', 'mail')
      .replace('{id}', 'none')
      .replace('{scope}', 'default')
      .replace('{group}', 'orders')
      .replace('{window}', 'db'),
    role: operation['x-role'],
    ...routeOf(path, method.toUpperCase()),
  }));
const guarded = calls.filter(({ role }) => role !== undefined);

/** Once more, and by hand: the descriptions alone would say nothing of a call that is open by mistake. */
const MEANT = {
  'GET /api/session': 'view',
  'GET /api/health': 'view',
  'POST /api/alerts/test': 'operate, writes',
  'GET /api/semaphores': 'view',
  'GET /api/semaphore-parts': 'view',
  'GET /api/semaphores/{name}': 'view',
  'GET /api/explain/{name}': 'view',
  'GET /api/semaphores/{name}/run': 'view',
  'POST /api/semaphores/{name}/run': 'operate, writes',
  'GET /api/semaphores/{name}/run/{id}': 'view',
  'GET /api/nodes': 'view',
  'GET /api/leaders': 'view',
  'GET /api/leaders/{scope}': 'view',
  'POST /api/leaders/{scope}/step-down': 'operate, writes',
  'POST /api/leaders/{scope}/transfer': 'operate, writes',
  'GET /api/allocation/groups': 'view',
  'GET /api/allocation/groups/{group}': 'view',
  'GET /api/allocation/groups/{group}/moves': 'view',
  'POST /api/allocation/groups/{group}/plan': 'view',
  'POST /api/allocation/groups/{group}/pin': 'operate, writes',
  'POST /api/allocation/groups/{group}/unpin': 'operate, writes',
  'POST /api/allocation/groups/{group}/drain': 'operate, writes',
  'POST /api/allocation/groups/{group}/undrain': 'operate, writes',
  'POST /api/allocation/groups/{group}/confirm-resources': 'operate, writes',
  'POST /api/tasks': 'operate, writes',
  'GET /api/tasks': 'view',
  'GET /api/task-types': 'view',
  'POST /api/tasks/claim': 'operate, writes',
  'GET /api/tasks/{id}': 'view',
  'POST /api/tasks/{id}/renew': 'operate, writes',
  'POST /api/tasks/{id}/complete': 'operate, writes',
  'POST /api/tasks/{id}/fail': 'operate, writes',
  'POST /api/tasks/{id}/retry-later': 'operate, writes',
  'POST /api/tasks/{id}/give-back': 'operate, writes',
  'POST /api/tasks/{id}/cancel': 'operate, writes',
  'POST /api/tasks/{id}/release': 'operate, writes',
  'POST /api/tasks/{id}/retry': 'operate, writes',
  'GET /api/task-groups': 'view',
  'GET /api/task-groups/{id}': 'view',
  'POST /api/task-groups/{id}/cancel': 'operate, writes',
  'GET /api/tasks/{id}/sub-tasks': 'view',
  'GET /api/schedules': 'view',
  'POST /api/task-types/{type}/off': 'operate, writes',
  'POST /api/task-types/{type}/on': 'operate, writes',
  'GET /api/history': 'view',
  'GET /api/jobs': 'view',
  'GET /api/semaphores/{name}/jobs': 'view',
  'GET /api/audit': 'view',
  'GET /api/events': 'view',
  'POST /api/preview': 'view',
  'POST /api/semaphores': 'define, writes',
  'PATCH /api/semaphores/{name}': 'define, writes',
  'DELETE /api/semaphores/{name}': 'define, writes',
  'POST /api/semaphores/{name}/reset': 'define, writes',
  'POST /api/semaphores/{name}/pause': 'operate, writes',
  'POST /api/semaphores/{name}/resume': 'operate, writes',
  'POST /api/semaphores/{name}/revoke': 'operate, writes',
  'POST /api/pause': 'operate, writes',
  'POST /api/reset': 'define, writes',
  'POST /api/resume': 'operate, writes',
  'POST /api/migrations': 'operate, writes',
  'POST /api/undo': 'operate, writes',
  'GET /api/maintenance': 'view',
  'GET /api/open-windows': 'view',
  'GET /api/maintenance/{window}': 'view',
  'POST /api/maintenance': 'operate, writes',
  'POST /api/maintenance/{window}/end': 'operate, writes',
  'POST /api/permits': 'operate, writes',
  'POST /api/permits/{id}/refresh': 'operate, writes',
  'POST /api/permits/{id}/release': 'operate, writes',
  'GET /api/openapi.json': 'everyone',
};

/** The store protocol, which no document describes. */
const MEANT_OF_STORE = {
  read: 'node',
  compareAndSet: 'node, writes',
  page: 'node',
  range: 'node',
  offer: 'node, writes',
  remove: 'node, writes',
  poll: 'node, writes',
  drain: 'node, writes',
  peek: 'node',
  size: 'node',
  append: 'node, writes',
  readJournal: 'node',
  now: 'node',
  health: 'node',
  watch: 'node',
};

const need = ({ role, writes }: { role?: string | undefined; writes?: boolean | undefined }) =>
  `${role ?? 'everyone'}${writes ? ', writes' : ''}`;

describe('the descriptions of the calls', () => {
  it('ask for the roles that are meant, and name what changes anything', () => {
    expect(Object.fromEntries(calls.map((call) => [call.name, need(call)]))).toEqual(MEANT);
    const store: [string, Route][] = Object.entries(STORE_ROUTES);
    expect(Object.fromEntries(store.map(([name, each]) => [name, need(each)]))).toEqual(MEANT_OF_STORE);
  });
});

describe.each(PLATFORMS)('every call of the API on %s', (platform) => {
  const start = useConsoles();
  const gatekeeper = { definitions: [JOB] };
  const isRefusal = (status: number) => status === 401 || status === 403;

  it('is refused without a token, and shows nothing', async () => {
    const { get, send } = await start({ platform, gatekeeper });
    for (const { method, path } of guarded) {
      const answer =
        method === 'GET' ? await get(path, { token: null }) : await send(method, path, {}, { token: null });
      expectProblem(answer, 401, 'no-token');
      expect(answer.text).not.toContain('job');
    }
  });

  it('is refused to every role that is too low, and to no other', async () => {
    const { get, send, url } = await start({ platform, gatekeeper });
    for (const { method, path, role } of guarded.filter((each) => each.path !== '/api/events')) {
      for (const sent of ROLES) {
        const token = TOKENS[sent];
        const answer =
          method === 'GET' ? await get(path, { token }) : await send(method, path, { unknown: 1 }, { token });
        const isEnough = ROLES.indexOf(sent) >= ROLES.indexOf(role!);
        if (!isEnough) expectProblem(answer, 403, 'role-too-low');
        expect({ path, sent, isRefused: isRefusal(answer.status) }).toEqual({ path, sent, isRefused: !isEnough });
      }
    }
    expect(url).toBeDefined();
  });

  it('that changes anything is refused in read-only mode, and no other', async () => {
    const { get, send } = await start({ platform, gatekeeper, console: { ...SETTINGS, readOnly: true } });
    for (const { method, path, writes } of guarded.filter((each) => each.path !== '/api/events')) {
      const answer = method === 'GET' ? await get(path) : await send(method, path, { unknown: 1 });
      const isReadOnly = answer.status === 403 && answer.json.code === 'read-only';
      expect({ method, path, isReadOnly }).toEqual({ method, path, isReadOnly: writes === true });
    }
  });

  it('is refused to pages of other sites', async () => {
    const { get, send } = await start({ platform, gatekeeper });
    for (const { method, path } of guarded) {
      const headers = { origin: 'https://evil.example' };
      expectProblem(
        method === 'GET' ? await get(path, { headers }) : await send(method, path, {}, { headers }),
        403,
        'cross-origin',
      );
    }
  });

  it('that sends a body is refused one that is too large', async () => {
    const { send } = await start({ platform, gatekeeper });
    for (const { method, path, largestBody = LARGEST_BODY } of guarded.filter((each) => each.method !== 'GET')) {
      expectProblem(await send(method, path, { reason: 'x'.repeat(largestBody + 1024) }), 413, 'too-large');
    }
  });

  it.each([
    ['by its parser', {}],
    ['by the console itself', { bodyParser: false }],
  ])('is refused one that is too large and does not say so before, read %s', async (_, application) => {
    const { url } = await start({ platform, gatekeeper, application });
    const text = JSON.stringify({ reason: 'x'.repeat(65 * 1024) });
    const init = { method: 'POST', body: new Blob([text]).stream(), duplex: 'half' } as RequestInit;
    const headers = { authorization: `Bearer ${TOKENS.define}`, 'content-type': 'application/json' };
    const answer = await fetch(`${url}/api/pause`, { ...init, headers });
    expect([answer.status, await answer.json()]).toMatchObject([413, { code: 'too-large' }]);
  });

  it('stands in the document, which everybody may read', async () => {
    const { get } = await start({
      platform,
      gatekeeper,
      prefix: 'v1',
      console: { ...SETTINGS, path: 'in/gatekeeper' },
    });
    const { status, json } = await get('/api/openapi.json?x=/api/openapi.json', { token: null });
    expect([status, json.openapi, json.servers]).toEqual([200, '3.1.0', [{ url: '/v1/in/gatekeeper' }]]);
    expect(Object.keys(json.paths)).toHaveLength(new Set(calls.map(({ name }) => name.split(' ')[1])).size);
    const edit = json.paths['/api/semaphores/{name}'].patch;
    const { $ref } = edit.requestBody.content['application/json'].schema;
    expect($ref).toBe('#/components/schemas/EditRequest');
    expect(json.components.schemas.EditRequest).toMatchObject({
      properties: { permits: { type: 'integer', minimum: 0, maximum: 1000 }, groupPattern: { type: 'string' } },
    });
    expect(Object.keys(edit.responses)).toEqual([
      '200',
      '400',
      '401',
      '403',
      '404',
      '409',
      '413',
      '415',
      '429',
      '500',
      '503',
    ]);
  });
});
