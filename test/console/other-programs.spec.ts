import { StoreUnavailableError, memory } from 'nestjs-gatekeeper';
import { until } from '../support/apps.js';
import { expectProblem } from './api.contract.js';
import { type Console, PLATFORMS, type Platform, SETTINGS, TOKENS, useConsoles } from './consoles.js';
import { partsOf } from '../../lib/gatekeeper/parts.js';

const JOB = { name: 'job', duration: '10s' };

describe.each(PLATFORMS)('for programs in other languages, on %s', (platform) => {
  const start = useConsoles();
  const boot = (options = {}) => start({ platform, gatekeeper: { definitions: [JOB] }, ...options });
  const take = ({ send }: Console, body: object = {}, options = {}) =>
    send('POST', '/api/permits', { semaphore: 'job', ...body }, options);

  it('a permit can be released from a given moment on, by any node, and no holder gets it before', async () => {
    const store = memory();
    const [one, other] = [await boot({ store }), await boot({ store })];
    const { json } = await take(one, { holder: 'script' });
    const path = `/api/permits/${json.id}/release`;
    const released = await other.send('POST', path, { semaphore: 'job', atLeastFor: '1500ms' });
    expect(released.json).toEqual({ released: true });
    expect((await one.send('POST', path, { semaphore: 'job' })).json).toEqual({ released: false });
    const denied = await take(one, { holder: 'script' });
    expectProblem(denied, 409, 'denied');
    expect(denied.json.holders).toMatchObject([{ holder: 'script', expiresAt: json.grantedAt + 1500 }]);
    const next = await take(other, { wait: '5s' });
    expect(next.status).toBe(201);
    expect(next.json.grantedAt).toBeGreaterThanOrEqual(json.grantedAt + 1500);
  });

  it('a denial tells in how many ms a permit is free, also in seconds as HTTP does', async () => {
    const console = await boot();
    await take(console, { duration: '5s' });
    const denied = await take(console);
    expectProblem(denied, 409, 'denied');
    expect(denied.json.freeIn).toBeGreaterThan(4000);
    expect(denied.json.freeIn).toBeLessThanOrEqual(5100);
    expect(denied.headers.get('retry-after')).toBe(String(Math.ceil(denied.json.freeIn / 1000)));
  });

  it('an unreachable store is reported with the time of the next try', async () => {
    const console = await boot();
    partsOf(console.gatekeeper).external.take = () => Promise.reject(new StoreUnavailableError('it is gone'));
    const refused = await take(console);
    expectProblem(refused, 503, 'unavailable');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('a semaphore is defined with the first permit, by a token that may define', async () => {
    const console = await boot();
    const body = { semaphore: 'new', definition: { permits: 2, duration: '20s' } };
    expectProblem(await take(console, body, { token: TOKENS.operate }), 403, 'role-too-low');
    expectProblem(await take(console, { semaphore: 'new' }), 404, 'unknown-semaphore');
    const withDuration = await take(console, { semaphore: 'new', duration: '10s' });
    expectProblem(withDuration, 404, 'unknown-semaphore');
    expect(withDuration.json.detail).toBe(
      'semaphore "new" has no definition: define it, or give a definition with the call, which needs the role define',
    );
    const granted = await Promise.all([take(console, body), take(console, body)]);
    expect(granted.map(({ status }) => status)).toEqual([201, 201]);
    const { semaphore } = (await console.get('/api/semaphores/new')).json;
    expect(semaphore).toMatchObject({
      definition: { permits: 2, duration: 20_000 },
      change: { kind: 'define', by: 'dora' },
    });
    // The journal is written in a moment.
    const noted = async () => (await console.get('/api/audit?semaphore=new')).json.entries;
    await until(async () => (await noted()).length > 0);
    expect(await noted()).toMatchObject([{ action: 'define', by: 'dora' }]);
  });

  it('what is defined stays as it is, whatever definition a take brings along', async () => {
    const console = await boot();
    expect((await take(console, { definition: { permits: 9, duration: '1h' } })).status).toBe(201);
    expect((await console.gatekeeper.definitions.get('job'))!.definition).toMatchObject({
      permits: 1,
      duration: 10_000,
    });
    expectProblem(await take(console, { semaphore: 'new', definition: { duration: 20 } }), 400, 'invalid-options');
  });

  it('session and document tell the shortest duration, the tolerance and the reasons of denials', async () => {
    const console = await boot({ gatekeeper: { definitions: [JOB], clockTolerance: 200 } });
    const { json: session } = await console.get('/api/session');
    expect(session).toMatchObject({ clockTolerance: 200, shortestDuration: 601 });
    const { json: document } = await console.get('/api/openapi.json');
    const { Duration, DenialReason } = document.components.schemas;
    expect(Duration.anyOf[0].minimum).toBe(601);
    expect(Duration.description).toContain('601 ms');
    expect(DenialReason.enum).toEqual(session.denialReasons);
    expect(session.denialReasons).toContain('no-permit');
    expectProblem(await take(console, { duration: 600 }), 400, 'invalid-options');
    expect((await take(console, { duration: 601 })).status).toBe(201);
  });

  it.each([
    [true, '/jobs', '/jobs/gatekeeper'],
    [true, '//elsewhere', '/gatekeeper'],
    [false, '/jobs', '/gatekeeper'],
  ])('the server of the document is behind a proxy that is trusted (%s) at %s: %s', async (trustProxy, prefix, url) => {
    const { get } = await boot({ console: { ...SETTINGS, trustProxy } });
    const { json } = await get('/api/openapi.json', { headers: { 'x-forwarded-prefix': prefix } });
    expect(json.servers).toEqual([{ url }]);
  });

  it.each([['5s'], ['0'], [0], ['1m']])('a wait of %j is understood', async (wait) => {
    expect((await take(await boot(), { wait })).status).toBe(201);
  });

  it.each([['61s'], ['-1s'], ['soon'], [-1], [60_001], [null], [{}]])('a wait of %j is refused', async (wait) => {
    expectProblem(await take(await boot(), { wait }), 400, 'invalid-options');
  });

  it.each(['/api/pause', '/api/permits', '/api/semaphores/job/pause'])('null is no body: %s', async (path) => {
    const console = await boot();
    const answer = await console.post(path, 'null');
    expect([answer.status, answer.json.title]).toEqual([400, expect.any(String)]);
    expect((await console.gatekeeper.definitions.get('job'))!.pause).toBeUndefined();
  });
});

describe.each<[Platform, object]>([
  ['Express', {}],
  ['Fastify', {}],
  ['Fastify', { routerOptions: { maxParamLength: 10 } }],
])('a name in a path of %s %j', (platform, fastify) => {
  const start = useConsoles();

  it('that no semaphore can have is refused as such', async () => {
    const { get } = await start({ platform, fastify });
    const answer = await get(`/api/semaphores/${'x'.repeat(201)}`);
    expectProblem(answer, 400, 'invalid-options');
    expect(answer.json.faults).toEqual([expect.stringMatching(/^name: .* is longer than 200 characters$/)]);
  });

  it('may have 200 emoji', async () => {
    const name = '😀'.repeat(200);
    const definitions = [{ name, duration: '10s' }];
    const path = `/api/semaphores/${encodeURIComponent(name)}`;
    const { get } = await start({ platform, fastify, gatekeeper: { definitions } });
    expect((await get(path)).json.semaphore.name).toBe(name);
    expectProblem(await get(`${path}x`), 400, 'invalid-options');
  });

  it('with a % that begins no escape is refused', async () => {
    const { url } = await start({ platform, fastify });
    const answer = await fetch(`${url}/api/semaphores/100%`, { headers: { authorization: `Bearer ${TOKENS.view}` } });
    expect(answer.status).toBe(400);
  });
});
