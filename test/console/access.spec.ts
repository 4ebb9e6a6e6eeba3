import { type CanActivate, type ExecutionContext, ForbiddenException, Injectable } from '@nestjs/common';
import { GatekeeperModule, type ConsoleOptions, InvalidOptionsError, memory } from 'nestjs-gatekeeper';
import { NEVER, concat, of } from 'rxjs';
import { bootError, useApps } from '../support/apps.js';
import { expectProblem } from './api.contract.js';
import { PLATFORMS, SETTINGS, TOKENS, useConsoles } from './consoles.js';

const JOB = { name: 'job', duration: '10s' };

describe('the options of the console', () => {
  const { start } = useApps();
  const faultsOf = async (console: ConsoleOptions) => {
    const error = await bootError(start({ imports: [GatekeeperModule.forRoot({ store: memory(), console })] }));
    expect(error).toBeInstanceOf(InvalidOptionsError);
    return { text: error.message, faults: (error as InvalidOptionsError).faults };
  };

  it('end the start when every caller would be let in, and say what to do', async () => {
    const { faults } = await faultsOf({});
    expect(faults).toEqual([expect.stringMatching(/^tokens: are missing.*Give tokens: .*guards: .*insecure: true/)]);
  });

  it('end the start with all faults, none of which shows a secret', async () => {
    const token = 'short-secret';
    const { faults, text } = await faultsOf({
      path: '../x',
      tokens: [{ token, name: '', role: 'admin' as 'view' }],
      allowedOrigins: ['example.com/'],
      readOnly: 'no' as never,
    });
    expect(faults.map((fault) => fault.split(': ')[0])).toEqual([
      'path',
      'tokens.0.token',
      'tokens.0.name',
      'tokens.0.role',
      'readOnly',
      'allowedOrigins.0',
    ]);
    expect(text).not.toContain(token);
  });

  it('say of a token that is not there, since its variable is not set, that it is missing', async () => {
    const { faults } = await faultsOf({ tokens: [{ token: undefined as never, name: 'ann', role: 'view' }] });
    expect(faults).toEqual(['tokens.0.token: is missing: is the variable set that it comes from?']);
  });

  it('refuse one token for two, and insecure beside tokens', async () => {
    const twice = [SETTINGS.tokens![0]!, { ...SETTINGS.tokens![0]!, name: 'other' }];
    const { faults, text } = await faultsOf({ tokens: twice, insecure: true });
    expect(faults).toEqual([
      expect.stringMatching(/^insecure: true contradicts/),
      expect.stringMatching(/^tokens: the same/),
    ]);
    expect(text).not.toContain(twice[0]!.token);
  });

  it('are merged with what an asynchronous factory gives', async () => {
    const useFactory = () => ({ store: memory(), console: { tokens: SETTINGS.tokens } });
    const app = await start({ imports: [GatekeeperModule.forRootAsync({ console: { path: 'x' }, useFactory })] });
    await app.listen(0, '127.0.0.1');
    const answer = await fetch(`http://127.0.0.1:${app.getHttpServer().address().port}/x/api/session`);
    expect(answer.status).toBe(401);
  });

  it('are those of an asynchronous factory, also the path', async () => {
    const useFactory = () => ({ store: memory(), console: { ...SETTINGS, path: 'y' } });
    const app = await start({ imports: [GatekeeperModule.forRootAsync({ console: { path: 'x' }, useFactory })] });
    await app.listen(0, '127.0.0.1');
    const statusOf = async (path: string) =>
      (await fetch(`http://127.0.0.1:${app.getHttpServer().address().port}/${path}/api/session`)).status;
    expect([await statusOf('y'), await statusOf('x')]).toEqual([401, 404]);
  });

  it('from a factory alone would come too late, and say so', async () => {
    const useFactory = () => ({ store: memory(), console: SETTINGS });
    const error = await bootError(start({ imports: [GatekeeperModule.forRootAsync({ useFactory })] }));
    expect(error.message).toContain('give forRootAsync itself console: {}, too');
  });
});

describe.each(PLATFORMS)('access to the console on %s', (platform) => {
  const start = useConsoles();

  it('is mounted nowhere unless it is asked for', async () => {
    const { url } = await start({ platform, console: null });
    expect((await fetch(`${url}/api/session`)).status).toBe(404);
  });

  it.each([
    ['no token', null, {}],
    ['a wrong token', 'some-other-token-01234', {}],
    ['the beginning of a token', TOKENS.define.slice(0, -1), {}],
    ['another scheme', null, { authorization: `Basic ${TOKENS.define}` }],
    ['an empty token', null, { authorization: 'Bearer ' }],
  ])('is refused with %s, and nothing is shown', async (_, token, headers) => {
    const { get, gatekeeper } = await start({ platform });
    const answer = await get('/api/session', { token, headers });
    expectProblem(answer, 401, 'no-token');
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
    expect(answer.text).not.toContain(gatekeeper.node.instance);
  });

  it('writes no secret into logs and answers', async () => {
    const { get, send, log } = await start({ platform });
    const secret = 'a-secret-that-is-unknown--';
    const answers = [
      await get('/api/session', { token: secret }),
      await send('POST', '/api/semaphores', { password: 1 }, { token: TOKENS.define }),
      await send('POST', '/api/semaphores', JOB, { token: TOKENS.view }),
    ];
    const said = [...answers.map(({ text }) => text), ...log].join('\n');
    for (const token of [secret, ...Object.values(TOKENS)]) expect(said).not.toContain(token);
  });

  it('refuses all changes in read-only mode', async () => {
    const { get, send } = await start({ platform, console: { ...SETTINGS, readOnly: true } });
    expectProblem(await send('POST', '/api/semaphores', JOB), 403, 'read-only');
    expect((await get('/api/session')).json.readOnly).toBe(true);
    expect((await get('/api/semaphores')).json.semaphores).toEqual([]);
  });

  it.each([
    ['a form', 'application/x-www-form-urlencoded'],
    ['plain text', 'text/plain'],
    ['what only begins like JSON', 'application/jsonp'],
  ])('refuses a change sent as %s', async (_, type) => {
    const { send, get } = await start({ platform });
    const answer = await send('POST', '/api/semaphores', JOB, { headers: { 'content-type': type } });
    expect(answer.status).toBe(415);
    expect((await get('/api/semaphores')).json.semaphores).toEqual([]);
  });

  it.each([
    ['of another origin', { origin: 'https://evil.example' }],
    ['of no origin that can be named', { origin: 'null' }],
    ['that the browser calls cross-site', { 'sec-fetch-site': 'cross-site' }],
  ])('refuses pages %s', async (_, headers) => {
    const { send } = await start({ platform });
    expectProblem(await send('POST', '/api/semaphores', JOB, { headers }), 403, 'cross-origin');
  });

  it('lets its own page and allowed origins pass, also behind a proxy that changes the host', async () => {
    const { send, url } = await start({
      platform,
      console: { ...SETTINGS, trustProxy: true, allowedOrigins: ['https://ops.example'] },
    });
    const pass = async (headers: Record<string, string>) =>
      (await send('DELETE', '/api/semaphores/none', {}, { headers })).status;
    expect(await pass({ origin: new URL(url).origin, 'sec-fetch-site': 'same-origin' })).toBe(200);
    expect(await pass({ origin: 'https://ops.example', 'sec-fetch-site': 'cross-site' })).toBe(200);
    expect(await pass({ origin: 'https://console.example', 'x-forwarded-host': 'console.example' })).toBe(200);
    expect(await pass({ origin: 'https://console.example', 'x-forwarded-host': 'console.example:443' })).toBe(200);
    expect(await pass({ origin: 'https://console.example:8443', 'x-forwarded-host': 'console.example' })).toBe(403);
    expect(await pass({ origin: 'https://console.example', 'x-forwarded-host': 'console.example:8443' })).toBe(403);
  });

  it('is open to all where it is insecure', async () => {
    const { get } = await start({ platform, console: { insecure: true } });
    expect((await get('/api/session', { token: null })).json).toMatchObject({ user: 'anonymous', role: 'define' });
  });
});

@Injectable()
class CookieGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest();
    const user = /user=(\w+)/.exec(request.headers.cookie ?? '')?.[1];
    if (user === 'mallory') throw new ForbiddenException('not you');
    request.gatekeeperUser = user;
    if (user === 'ann') request.gatekeeperRole = 'define';
    if (user === 'vera') request.gatekeeperRole = 'view';
    if (user === 'root') request.gatekeeperRole = 'everything';
    return user !== undefined;
  }
}

describe.each(PLATFORMS)("the application's own guards on %s", (platform) => {
  const start = useConsoles();
  const as = (user: string) => ({ token: null, headers: { cookie: `user=${user}` } });

  it('say who it is, and what that one may do', async () => {
    const { get, send } = await start({ platform, console: { guards: [CookieGuard] } });
    expect((await get('/api/session', as('ann'))).json).toMatchObject({ user: 'ann', role: 'define' });
    expect((await get('/api/session', as('eve'))).json).toMatchObject({ user: 'eve', role: 'view' });
    expectProblem(await send('POST', '/api/semaphores', JOB, as('eve')), 403, 'role-too-low');
    expect((await get('/api/session', as('vera'))).json).toMatchObject({ user: 'vera', role: 'view' });
    expectProblem(await send('POST', '/api/semaphores', JOB, as('vera')), 403, 'role-too-low');
  });

  it('keep others out, in their own words', async () => {
    const { get } = await start({ platform, console: { guards: [new CookieGuard()] } });
    expectProblem(await get('/api/session', { token: null }), 403, 'forbidden');
    const refused = await get('/api/session', as('mallory'));
    expectProblem(refused, 403, 'forbidden');
    expect(refused.json.detail).toBe('not you');
  });

  it.each([
    ['a promise', async () => false],
    ['a stream', () => of(false)],
    ['a stream that goes on', () => concat(of(false), NEVER)],
  ])('may take their time: %s', async (_, canActivate) => {
    const { get } = await start({ platform, console: { guards: [{ canActivate }] } });
    expectProblem(await get('/api/session', { token: null }), 403, 'forbidden');
  });

  it('that give an unknown role let no request in', async () => {
    const { get, log } = await start({ platform, console: { guards: [CookieGuard] } });
    const refused = await get('/api/session', as('root'));
    expectProblem(refused, 500, 'internal');
    expect(refused.text).not.toContain('everything');
    expect(log.join('\n')).toContain('request.gatekeeperRole to "everything", which is no role');
  });

  it('count besides tokens', async () => {
    const { get } = await start({ platform, console: { ...SETTINGS, guards: [CookieGuard] } });
    expectProblem(await get('/api/session'), 403, 'forbidden');
    expectProblem(await get('/api/session', as('ann')), 401, 'no-token');
    const both = { headers: { cookie: 'user=ann' } };
    expect((await get('/api/session', both)).json).toMatchObject({ user: 'dora' });
  });
});
