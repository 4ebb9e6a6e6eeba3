import type { INestApplication } from '@nestjs/common';
import { PAGE_HEADER } from '../../lib/console/api/limits.js';
import { Tokens } from '../../lib/console/access/tokens.js';
import { expectProblem } from './api.contract.js';
import { type CallOptions, type Console, PLATFORMS, SETTINGS, TOKENS, useConsoles } from './consoles.js';

const JOB = { name: 'job', duration: '10s' };
const HOUR = 3_600_000;
const PAGE = { [PAGE_HEADER]: '3000' };

/** Signs in as a page does. @returns the cookie as the browser sends it */
async function signIn({ send }: Console, token: string = TOKENS.operate): Promise<string> {
  const answer = await send('POST', '/api/session', {}, { token, headers: PAGE });
  expect(answer.status).toBe(200);
  return answer.headers.getSetCookie().at(-1)!.split(';')[0]!;
}

/** A call of a page with this cookie. */
const from = (cookie: string, headers: Record<string, string> = {}): CallOptions => ({
  token: null,
  headers: { ...PAGE, 'sec-fetch-site': 'same-origin', cookie, ...headers },
});

describe.each(PLATFORMS)('the session of a page on %s', (platform) => {
  const start = useConsoles();

  it('stands for the token: its user may do the same', async () => {
    const app = await start({ platform });
    const cookie = await signIn(app);
    const { json } = await app.get('/api/session', from(cookie));
    expect(json).toMatchObject({ user: 'otto', role: 'operate' });
    expect(json.endsAt - Date.now()).toBeGreaterThan(11.9 * HOUR);
    expect(json.endsAt - Date.now()).toBeLessThanOrEqual(12 * HOUR);

    await app.send('POST', '/api/semaphores', JOB);
    expect((await app.send('POST', '/api/semaphores/job/pause', {}, from(cookie))).status).toBe(200);
    expect((await app.gatekeeper.definitions.get('job'))?.pause?.by).toBe('otto');
    expectProblem(await app.send('DELETE', '/api/semaphores/job', {}, from(cookie)), 403, 'role-too-low');
  });

  it('is a cookie that no script reads, that no other site sends, and that has no token in it', async () => {
    const { send } = await start({ platform });
    const set = async (headers: Record<string, string>) =>
      (await send('POST', '/api/session', {}, { token: TOKENS.view, headers })).headers.getSetCookie();
    const session = expect.stringMatching(/^gatekeeper-session-3000=\d+\.[\w-]{43}; HttpOnly; SameSite=Strict$/);
    expect(await set(PAGE)).toEqual([session]);
    const [withoutPort] = await set({ [PAGE_HEADER]: '' });
    expect(withoutPort).toMatch(/^gatekeeper-session=\d/);
  });

  it('never leaves HTTPS, if the page came over HTTPS', async () => {
    const { send } = await start({ platform, console: { ...SETTINGS, allowedOrigins: ['https://ops.example'] } });
    const headers = { ...PAGE, origin: 'https://ops.example' };
    const answer = await send('POST', '/api/session', {}, { token: TOKENS.view, headers });
    expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(/; SameSite=Strict; Secure$/)]);
  });

  it('is known to each node that has the token, and ends where the token is removed', async () => {
    const [one, other] = [await start({ platform }), await start({ platform })];
    const without = await start({
      platform,
      console: { tokens: SETTINGS.tokens!.filter(({ name }) => name !== 'otto') },
    });
    const cookie = await signIn(one);
    expect((await other.get('/api/session', from(cookie))).json).toMatchObject({ user: 'otto' });
    expectProblem(await without.get('/api/session', from(cookie)), 401, 'no-token');
  });

  it.each<[string, (session: string) => string]>([
    ['with a later end', (session) => session.replace(/=\d/, '=9')],
    ['with another signature', (session) => session.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A'))],
    ['without a signature', (session) => session.split('.')[0]!],
    ['of another name', (session) => session.replace('-3000', '-3001')],
    ['that is the token', () => `gatekeeper-session-3000=${TOKENS.operate}`],
    ['that is empty', () => 'gatekeeper-session-3000='],
    ['that comes twice', (session) => `${session}; ${session}`],
    ['that is very long', (session) => session + '0'.repeat(8000)],
  ])('is none %s', async (_, changed) => {
    const app = await start({ platform });
    const cookie = await signIn(app);
    expectProblem(await app.get('/api/session', from(changed(cookie))), 401, 'no-token');
    expect((await app.get('/api/session', from(`theme=dark; ${cookie}; lang=en`))).status).toBe(200);
  });

  it.each<[string, Record<string, string>]>([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another host of the same domain', { 'sec-fetch-site': 'same-site' }],
    ['the address bar', { 'sec-fetch-site': 'none' }],
    ['a page whose header is not that of this page', { [PAGE_HEADER]: 'x' }],
  ])('counts for nothing in a request from %s', async (_, headers) => {
    const app = await start({ platform });
    const cookie = await signIn(app);
    expectProblem(await app.send('POST', '/api/pause', { names: '.*' }, from(cookie, headers)), 401, 'no-token');
    expectProblem(await app.get('/api/semaphores', from(cookie, headers)), 401, 'no-token');
  });

  it.each<Record<string, string>>([{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }, {}])(
    'counts for nothing on another origin, even if its pages may call with a token (%j)',
    async (site) => {
      const origin = 'https://ops.example';
      const app = await start({ platform, console: { ...SETTINGS, allowedOrigins: [origin] } });
      const headers = { ...PAGE, origin, ...site, cookie: await signIn(app) };
      for (const call of [
        app.send('POST', '/api/pause', { names: '.*' }, { token: null, headers }),
        app.get('/api/semaphores', { token: null, headers }),
      ]) {
        expectProblem(await call, 401, 'no-token');
      }
    },
  );

  it('counts for nothing without the header of the page, as a form, an image or the address bar sends it', async () => {
    const app = await start({ platform });
    const answer = await app.send(
      'POST',
      '/api/session',
      {},
      { token: TOKENS.operate, headers: { [PAGE_HEADER]: '' } },
    );
    const cookie = answer.headers.getSetCookie()[0]!.split(';')[0]!;
    expect(cookie).toMatch(/^gatekeeper-session=/);
    const headers = { cookie };
    expectProblem(await app.send('POST', '/api/pause', { names: '.*' }, { token: null, headers }), 401, 'no-token');
    expectProblem(await app.get('/api/semaphores', { token: null, headers }), 401, 'no-token');
    expect((await app.get('/api/semaphores', { token: null, headers: { ...headers, [PAGE_HEADER]: '' } })).status).toBe(
      200,
    );
  });

  it('does not hide a wrong token beside it', async () => {
    const app = await start({ platform });
    const cookie = await signIn(app);
    const authorization = 'Bearer some-other-token-01234';
    expectProblem(await app.get('/api/session', from(cookie, { authorization })), 401, 'no-token');
  });

  it('does not prolong itself', async () => {
    const app = await start({ platform });
    const answer = await app.send('POST', '/api/session', {}, from(await signIn(app)));
    expectProblem(answer, 401, 'no-token');
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  it('is given to no one with a wrong token, and to no program', async () => {
    const { send } = await start({ platform });
    const wrong = await send('POST', '/api/session', {}, { token: 'some-other-token-01234', headers: PAGE });
    expectProblem(wrong, 401, 'no-token');
    const program = await send('POST', '/api/session', {}, { token: TOKENS.view });
    expectProblem(program, 400, 'bad-request');
    expect(program.text).toContain('a program sends its token with each call');
    for (const { headers } of [wrong, program]) expect(headers.getSetCookie()).toEqual([]);
  });

  it.each<[string, (session: string) => string]>([
    ['its own', (session) => session],
    [
      'one that this node does not know, as while a token is given to all nodes',
      (session) => session.replace(/.$/, '_'),
    ],
    ['none', () => 'theme=dark'],
    ['two, one of which was planted', (session) => `${session}; gatekeeper-session-3000=x`],
  ])('is taken away by the sign-out, if the browser has %s', async (_, changed) => {
    const app = await start({ platform });
    const answer = await app.send('DELETE', '/api/session', {}, from(changed(await signIn(app))));
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([
      200,
      ['gatekeeper-session-3000=; Max-Age=0; HttpOnly; SameSite=Strict'],
    ]);
    expectProblem(await app.send('DELETE', '/api/session', {}), 400, 'bad-request');
  });

  it('ends its stream of events', async () => {
    const app = await start({ platform });
    const cookie = await signIn(app);
    const left = 500;
    const endsAt = (await app.get('/api/session', from(cookie))).json.endsAt as number;
    const clock = jest.spyOn(Date, 'now').mockReturnValue(endsAt - left);
    const stream = app.get('/api/events', from(cookie));
    const began = performance.now();
    expect((await stream).status).toBe(200);
    expect(performance.now() - began).toBeGreaterThan(left - 50);
    clock.mockRestore();
  });

  it('is possible on a read-only console', async () => {
    const app = await start({ platform, console: { ...SETTINGS, readOnly: true } });
    const cookie = await signIn(app, TOKENS.define);
    expectProblem(await app.send('POST', '/api/semaphores', JOB, from(cookie)), 403, 'read-only');
    expect((await app.send('DELETE', '/api/session', {}, from(cookie))).status).toBe(200);
  });

  it('leaves the cookies of the application alone', async () => {
    const prepare = (app: INestApplication) =>
      app.use((_request: unknown, response: { setHeader(name: string, value: string): void }, next: () => void) => {
        response.setHeader('Set-Cookie', 'own=1');
        next();
      });
    const { send } = await start({ platform, prepare });
    const answer = await send('POST', '/api/session', {}, { token: TOKENS.view, headers: PAGE });
    expect(answer.headers.getSetCookie()).toEqual(['own=1', expect.stringMatching(/^gatekeeper-session-3000=/)]);
  });
});

describe('a session', () => {
  afterEach(() => void jest.restoreAllMocks());

  it('ends after 12 hours, on the node that made it and on all others', () => {
    const nodes = [1, 2].map(() => new Tokens({ tokens: [tokenOf('otto', TOKENS.operate)] }));
    const now = Date.now();
    const clock = jest.spyOn(Date, 'now').mockReturnValue(now);
    const session = nodes[0]!.sessionFor(`Bearer ${TOKENS.operate}`)!;
    const users = () => nodes.map((node) => node.visitorIn(session)?.user);
    clock.mockReturnValue(now + 12 * HOUR - 1);
    expect(users()).toEqual(['otto', 'otto']);
    clock.mockReturnValue(now + 12 * HOUR);
    expect(users()).toEqual([undefined, undefined]);
  });

  it('is that of its own token among many', () => {
    const tokens = Object.entries(TOKENS).map(([name, token]) => tokenOf(name, token));
    const node = new Tokens({ tokens });
    for (const { name, token } of tokens) {
      expect(node.visitorIn(node.sessionFor(`Bearer ${token}`)!)?.user).toBe(name);
    }
  });
});

function tokenOf(name: string, token: string) {
  return { name, token, role: 'operate' as const };
}
