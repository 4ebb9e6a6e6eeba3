import { GatekeeperModule, InvalidOptionsError, memory } from 'nestjs-gatekeeper';
import { openApiOf } from '../../lib/console/openapi/document.js';
import { partsOf } from '../../lib/gatekeeper/parts.js';
import { ROUTES } from '../../lib/console/api/index.js';
import { bootError, until, useApps } from '../support/apps.js';
import { expectProblem } from './api.contract.js';
import { ScriptedRunArchive } from '../support/scripted-run-archive.js';
import { ScriptedArchive } from '../support/scripted-archive.js';
import { type Console, PLATFORMS, SETTINGS, TOKENS, useConsoles } from './consoles.js';
import { EventReader } from './event-reader.js';

const LIMITED = 'token-of-lisa-0123456789';
const PERMITS = 'token-of-paul-0123456789';
const console = {
  tokens: [
    ...SETTINGS.tokens!,
    { token: LIMITED, name: 'lisa', role: 'define', names: 'mine-.*' } as const,
    { token: PERMITS, name: 'paul', role: 'operate', names: 'mine-.*', permitsOnly: true } as const,
  ],
};
const gatekeeper = {
  definitions: [
    { name: 'mine-1', duration: '10s' },
    { name: 'other', duration: '10s' },
  ],
};
const as = { token: LIMITED };
const TASK_CALLS: [string, object][] = [
  ['renew', { token: 1 }],
  ['complete', { token: 1 }],
  ['fail', { token: 1, message: 'x' }],
  ['retry-later', { token: 1, after: 0 }],
  ['give-back', { token: 1 }],
  ['cancel', {}],
  ['retry', {}],
];

describe.each(PLATFORMS)('a token for some names on %s', (platform) => {
  const start = useConsoles();
  const boot = () => start({ platform, gatekeeper, console });

  it('touches nothing else, by whatever call', async () => {
    const { get, send, gatekeeper: node } = await boot();
    const path = '/api/semaphores/other';
    const refused = [
      await get(path, as),
      await get('/api/explain/other', as),
      await get('/api/history?semaphore=other', as),
      await get('/api/jobs?semaphore=other', as),
      await get('/api/semaphores/other/jobs', as),
      await get('/api/audit?semaphore=other', as),
      await send('POST', '/api/semaphores', { name: 'other-new', duration: '5s' }, as),
      await send('PATCH', path, { permits: 2 }, as),
      await send('DELETE', path, {}, as),
      ...(await Promise.all(['pause', 'resume', 'reset'].map((verb) => send('POST', `${path}/${verb}`, {}, as)))),
      await send('POST', `${path}/revoke`, { permitId: 'x' }, as),
      await send('POST', '/api/permits', { semaphore: 'other' }, as),
      await send('POST', '/api/permits/x/refresh', { semaphore: 'other', token: 1 }, as),
      await send('POST', '/api/permits/x/release', { semaphore: 'other' }, as),
      await get('/api/leaders/other', as),
      await send('POST', '/api/leaders/other/step-down', {}, as),
      await send('POST', '/api/leaders/other/transfer', { node: 'x' }, as),
      await send('POST', '/api/tasks', { id: 'mail:one' }, as),
      await send('POST', '/api/tasks/claim', { types: ['mail'] }, as),
      await get('/api/tasks/mail:one', as),
      ...(await Promise.all(TASK_CALLS.map(([verb, body]) => send('POST', `/api/tasks/mail:one/${verb}`, body, as)))),
    ];
    for (const answer of refused) {
      expectProblem(answer, 403, 'token-limited');
      expect(answer.json.detail).toContain('"mine-.*"');
    }
    expect(await node.definitions.get('other')).toMatchObject({ revision: 1 });
  });

  it('changes of many what it matches alone', async () => {
    const { send, gatekeeper: node } = await boot();
    expect((await send('POST', '/api/pause', { names: '.*' }, as)).json.done).toEqual(['mine-1']);
    expect((await send('POST', '/api/resume', {}, as)).json.done).toEqual(['mine-1']);
    const to = { groupPattern: 'b' };
    expect((await send('POST', '/api/migrations', { to }, as)).json).toMatchObject({ steps: [{ name: 'mine-1' }] });
    const { json } = await send('POST', '/api/migrations', { to, dryRun: false }, as);
    expect(json).toMatchObject({ steps: [{ name: 'mine-1' }], remaining: 0 });
    expect(await node.definitions.get('other')).toMatchObject({ revision: 1 });
  });

  it('sees nothing else in any list, and the newest of what it sees', async () => {
    const { get, send, gatekeeper: node } = await boot();
    await node.tryAcquire('mine-1');
    await node.tryAcquire('other');
    await node.run('mine-1', () => undefined);
    await node.run('other', () => undefined);
    await send('POST', '/api/semaphores/mine-1/pause');
    await send('POST', '/api/semaphores/other/pause');
    await until(async () => (await get('/api/audit')).json.entries.length === 2);
    await until(async () => (await get('/api/history')).json.entries.length === 2);
    await until(async () => (await get('/api/nodes')).json.nodes[0]?.holds.length === 2);
    for (const path of ['semaphores', 'nodes', 'history?limit=1', 'audit?limit=1', 'session']) {
      const { status, text } = await get(`/api/${path}`, as);
      expect([path, status, text.includes('"other"')]).toEqual([path, 200, false]);
      expect([path, text.includes('"mine-1"')]).toEqual([path, path !== 'session']);
    }
    expect((await get('/api/session', as)).json).toMatchObject({ names: 'mine-.*' });
  });

  it('learns no scope, group or semaphore from the faults, or from the members', async () => {
    const leadership = { enabled: true, lease: '1s', scopes: ['billing'] };
    const { get, gatekeeper: node } = await start({ platform, console, gatekeeper: { ...gatekeeper, leadership } });
    await until(async () => (await get('/api/leaders')).json.members[0]?.scopes.length === 1);
    const { members } = (await get('/api/leaders', as)).json;
    expect(members).toMatchObject([{ scopes: [] }]);
    const fault = {
      code: 'no-leader',
      since: 1,
      sentence: 'scope "billing" has no leader',
      stopsGrants: false,
    } as const;
    const unowned = { ...fault, code: 'resources-unowned', sentence: 'a resource of group "billing"' } as const;
    const removed = { ...fault, code: 'semaphores-removed', sentence: '"billing" was removed' } as const;
    const unfollowed = { ...fault, code: 'code-not-followed', sentence: 'definitions of "billing"' } as const;
    const faults = [fault, unowned, removed, unfollowed];
    const health = node.health();
    partsOf(node).health.check = async () => ({ ...health, faults });
    expect((await get('/api/health')).text).toContain('billing');
    const { json, text } = await get('/api/health', as);
    expect(json.faults.map(({ code }: { code: string }) => code)).toEqual(faults.map(({ code }) => code));
    expect(text).not.toContain('billing');
  });

  it('learns of the jobs that did not run only those of its names', async () => {
    const { get, gatekeeper: node } = await boot();
    const warnings = ['other', 'mine-1'].map((semaphore) => ({
      code: 'not-run' as const,
      semaphore,
      since: 1,
      sentence: `a job of ${semaphore} was due`,
    }));
    const health = node.health();
    partsOf(node).health.check = async ({ warnings: wanted = false } = {}) => {
      const isWanted = typeof wanted === 'function' ? wanted : () => wanted;
      return { ...health, warnings: warnings.filter(({ semaphore }) => isWanted(semaphore)) };
    };
    expect((await get('/api/health', { token: TOKENS.view })).json.warnings).toEqual(warnings);
    const { json, text } = await get('/api/health', as);
    expect(json.warnings).toEqual(warnings.slice(1));
    expect(text).not.toContain('other');
  });

  it('hears of nothing else', async () => {
    const { url, gatekeeper: node } = await boot();
    const reader = await EventReader.open(`${url}/api/events`, { authorization: `Bearer ${LIMITED}` });
    await node.definitions.pause('other');
    await node.definitions.pause('mine-1');
    await reader.until(({ events }) => events.some(({ event }) => event === 'change'));
    reader.close();
    expect(reader.of('change')).toEqual([{ semaphores: ['mine-1'] }]);
    expect(JSON.stringify(reader.events)).not.toContain('"other"');
  });
});

/** Every call of the document that takes a role. */
const calls = Object.entries(
  openApiOf(Object.values(ROUTES), { mount: '/', clockTolerance: 10 })['paths'] as Record<
    string,
    Record<string, object>
  >,
)
  .flatMap(([path, operations]) => Object.entries(operations).map(([method, of]) => ({ path, method, of })))
  .filter(({ of }) => 'x-role' in of)
  .map(({ path, method }) => `${method.toUpperCase()} ${path}`);

const FOR_PERMITS = new Set([
  'GET /api/session',
  'POST /api/permits',
  'POST /api/permits/{id}/refresh',
  'POST /api/permits/{id}/release',
]);

describe.each(PLATFORMS)('a token for permits only on %s', (platform) => {
  const start = useConsoles();

  const send = (server: Console, call: string) => {
    const [method, path] = call.split(' ') as [string, string];
    const to = path.replace('{name}', 'mine-1').replace('{id}', 'x');
    return method === 'GET' ? server.get(to, { token: PERMITS }) : server.send(method, to, {}, { token: PERMITS });
  };

  it('takes, refreshes and releases, and does nothing else', async () => {
    const server = await start({ platform, gatekeeper, console });
    const taken = await server.send('POST', '/api/permits', { semaphore: 'mine-1' }, { token: PERMITS });
    expect(taken.status).toBe(201);
    for (const call of calls) {
      const { json } = await send(server, call);
      expect([call, json?.code === 'token-limited']).toEqual([call, !FOR_PERMITS.has(call)]);
    }
    expect((await server.get('/api/session', { token: TOKENS.view })).json).not.toHaveProperty('names');
  });
});

describe('the health of a node that can not archive a definition or a run', () => {
  const start = useConsoles();

  it.each(['archive-failing', 'run-archive-failing'])('names it for those alone who may see it (%s)', async (fault) => {
    const [archive, runs] = [new ScriptedArchive(), new ScriptedRunArchive()];
    const refuse = (call: string) => {
      if (call === 'save' || call === 'append') throw new Error('the value of "other" is refused');
    };
    archive.script = refuse;
    runs.script = refuse;
    const history = { archive: { kind: 'scripted', open: () => runs } };
    const { persistence } = archive;
    const { get, gatekeeper: node } = await start({ gatekeeper: { persistence, history }, console });
    await node.definitions.define({ name: 'other', duration: '10s' });
    await node.run('other', () => undefined);
    // The clocks of a node that has just started may be suspect, too.
    const faultFor = async (token: string) => {
      const { faults } = (await get('/api/health', { token })).json as { faults: { code: string; sentence: string }[] };
      return faults.find(({ code }) => code === fault);
    };
    await until(async () => (await faultFor(TOKENS.view)) !== undefined);
    expect((await faultFor(TOKENS.view))?.sentence).toContain('"other"');
    const limited = await faultFor(LIMITED);
    expect(limited).toBeDefined();
    expect(limited?.sentence).not.toContain('other');
  });
});

describe('the limits of a token', () => {
  const { start } = useApps();

  it('are refused where they can not be kept, or have a fault', async () => {
    const tokens = [
      { token: TOKENS.node, name: 'nora', role: 'node', names: 'mine' } as const,
      { token: TOKENS.view, name: 'vera', role: 'view', permitsOnly: true } as const,
      { token: TOKENS.define, name: 'dora', role: 'define', names: '(' } as const,
    ];
    const error = await bootError(
      start({ imports: [GatekeeperModule.forRoot({ store: memory(), console: { tokens } })] }),
    );
    expect((error as InvalidOptionsError).faults).toEqual([
      expect.stringMatching(/^tokens\.0\.names: .*role node/),
      expect.stringMatching(/^tokens\.1\.permitsOnly: .*role view/),
      expect.stringMatching(/^tokens\.2\.names: "\(" .*RE2/),
    ]);
  });
});
