import { ClassSerializerInterceptor, Controller, Get, type INestApplication, Post } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { PageFiles } from '../../lib/console/page/page-files.js';
import { expectProblem } from './api.contract.js';
import { type Host, PLATFORMS, type Platform, useConsoles } from './consoles.js';

/** The page says that it was not built: that shows that it was asked for, whether a build is there or not. */
const NOT_BUILT: Host['overrides'] = [[PageFiles, new PageFiles(() => undefined)]];
const JOB = { name: 'job', duration: '10s' };

@Controller()
class HostController {
  @Post('host/api/semaphores')
  create(): string {
    return 'created by the host';
  }

  @Get('gatekeeper/own')
  own(): string {
    return "the host's own";
  }
}

/** A policy of the host, such as helmet's, that would keep the page from running. */
function withPolicy(app: INestApplication): void {
  const policy = ['content-security-policy', "default-src 'none'"] as const;
  const instance = app.getHttpAdapter().getInstance();
  if (app.getHttpAdapter().getType() === 'express') {
    app.use((_request: unknown, response: any, next: () => void) => (response.setHeader(...policy), next()));
  } else {
    instance.addHook('onRequest', async (_request: unknown, reply: any) => void reply.header(...policy));
  }
}

describe.each(PLATFORMS)("what the application's server refuses itself, on %s", (platform) => {
  const start = useConsoles();
  const host = { platform, metadata: { controllers: [HostController] } };

  it.each([
    ['JSON that is none', '{"name":', 400, 'bad-request'],
    ['more than its parser takes', JSON.stringify({ name: 'x'.repeat(2_000_000) }), 413, 'too-large'],
  ])('is reported like any other problem: %s', async (_, body, status, code) => {
    const { post, get, log } = await start({ ...host, prefix: 'internal/v1' });
    expectProblem(await post('/api/semaphores', body), status, code);
    expect((await get('/api/semaphores')).json.semaphores).toEqual([]);
    expect(log.filter((line) => line.startsWith('error'))).toEqual([]);
  });

  it('of other paths of the application is answered as ever', async () => {
    const { url } = await start(host);
    const { origin } = new URL(url);
    const answer = await fetch(`${origin}/host/api/semaphores`, json('{"name":'));
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'application/json; charset=utf-8']);
    expect(await (await fetch(`${url}/own`)).text()).toBe("the host's own");
    expect((await fetch(`${url}/api/nothing`)).headers.get('content-type')).toMatch(/^application\/json/);
  });

  it('keeps nothing from the application that stands beside the console under one path', async () => {
    const { url } = await start({ ...host, console: { path: 'host/console', insecure: true } });
    const answer = await fetch(`${new URL(url).origin}/host/api/semaphores`, json('{}'));
    expect([answer.status, await answer.text()]).toEqual([201, 'created by the host']);
  });

  const json = (body: string) => ({ method: 'POST', body, headers: { 'content-type': 'application/json' } });
});

describe.each(PLATFORMS)('names in the path, on %s', (platform) => {
  const start = useConsoles();

  it.each([
    'a/b',
    'a%2Fb',
    'a b',
    'Übernahme 引き継ぎ 🚚',
    'a?b#c',
    '%',
    '*',
    ':name',
    '__proto__',
    'pause',
    '...',
    'x'.repeat(100),
  ])('reach what they name: %s', async (name) => {
    const { send, get } = await start({ platform });
    expect((await send('POST', '/api/semaphores', { ...JOB, name })).status).toBe(201);
    const path = `/api/semaphores/${encodeURIComponent(name)}`;
    expect((await get(path)).json.semaphore.name).toBe(name);
    expect((await send('POST', `${path}/pause`)).json.pause.by).toBe('dora');
    expect((await get(`/api/explain/${encodeURIComponent(name)}`)).json.semaphore).toBe(name);
  });

  it.each(['.', '..'])('are refused where no browser could send them: %s', async (name) => {
    const { send } = await start({ platform });
    const answer = await send('POST', '/api/semaphores', { ...JOB, name });
    expectProblem(answer, 400, 'invalid-options');
    expect(answer.json.faults).toEqual([expect.stringMatching(/^name: "\.+" .*URL/)]);
  });

  it('that are none are refused with the reason', async () => {
    const { get } = await start({ platform });
    expectProblem(await get('/api/semaphores/a%00b'), 400, 'invalid-options');
    expect((await get('/api/semaphores/a/b/c')).status).toBe(404);
  });
});

describe.each(PLATFORMS)(
  'in an application that sorts its routes and lets none stand in the way of another, on %s',
  (platform) => {
    const start = useConsoles();

    it('the page and the API are where they were', async () => {
      const application = {
        routeConflictPolicy: { duplicate: 'error', shadow: 'error' },
        routeResolutionStrategy: 'specificity',
      };
      const { get, send } = await start({ platform, application, overrides: NOT_BUILT });
      await send('POST', '/api/semaphores', JOB);
      expect((await get('/api/semaphores/job')).json.semaphore.name).toBe('job');
      expectProblem(await get('/'), 404, 'not-found');
    });
  },
);

describe('names of 200 characters in the path', () => {
  const start = useConsoles();
  const NAMES = ['x'.repeat(200), '🚚'.repeat(100)];
  const asked = async (host: Host) => {
    const { send, get } = await start(host);
    for (const name of NAMES) await send('POST', '/api/semaphores', { ...JOB, name });
    const paths = NAMES.map(encodeURIComponent).flatMap((name) => [`/api/semaphores/${name}`, `/api/explain/${name}`]);
    return Promise.all(paths.map((path) => get(path)));
  };

  it.each<[Platform, object]>([
    ['Express', {}],
    ['Fastify', {}],
    ['Fastify', { routerOptions: { maxParamLength: 10 } }],
  ])('are served on %s %j', async (platform, fastify) => {
    expect((await asked({ platform, fastify })).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });
});

describe('on Express that tells a slash at the end from none', () => {
  const start = useConsoles();

  it('the page is found', async () => {
    const strict = (app: INestApplication) => app.getHttpAdapter().getInstance().set('strict routing', true);
    const { url } = await start({ prepare: strict, overrides: NOT_BUILT });
    const answer = await fetch(url);
    expect([answer.url, answer.status]).toEqual([`${url}/`, 404]);
    expect(await answer.text()).toContain('not built');
  });
});

describe('on Fastify with other routing', () => {
  const start = useConsoles();

  it.each([{ ignoreTrailingSlash: true }, { ignoreDuplicateSlashes: true }, { caseSensitive: false }])(
    'the page and the API are where they were: %j',
    async (routerOptions) => {
      const { url, get } = await start({
        platform: 'Fastify',
        prefix: 'v1',
        fastify: { routerOptions },
        overrides: NOT_BUILT,
      });
      expect((await get('/api/session')).status).toBe(200);
      const answer = await fetch(url, { redirect: 'manual' });
      expect([answer.status, answer.headers.get('location')]).toEqual([302, 'gatekeeper/']);
      expectProblem(await get('/'), 404, 'not-found');
      expect((await get('/api/session/')).status).toBe(200);
    },
  );
});

describe.each(PLATFORMS)('in an application with a policy, a serialiser and CORS of its own, on %s', (platform) => {
  const start = useConsoles();
  const origin = 'https://ops.example';
  const boot = () =>
    start({
      platform,
      console: { insecure: true, allowedOrigins: [origin] },
      prepare: (app) => {
        withPolicy(app);
        // By default Fastify allows only GET, HEAD and POST.
        app.enableCors({ origin, methods: ['GET', 'POST', 'PATCH', 'DELETE'] });
        app.useGlobalInterceptors(new ClassSerializerInterceptor(app.get(Reflector)));
      },
    });

  it('answers are whole, and HEAD has their headers', async () => {
    const { get, send, url } = await boot();
    expect((await send('POST', '/api/semaphores', JOB, { headers: { origin } })).json.definition).toMatchObject({
      name: 'job',
      duration: 10_000,
    });
    const { headers } = await get('/api/semaphores/job', { headers: { origin } });
    expect(headers.get('access-control-allow-origin')).toBe(origin);
    const head = await fetch(`${url}/api/semaphores/job`, { method: 'HEAD' });
    expect([head.status, head.headers.get('cache-control'), await head.text()]).toEqual([200, 'no-store', '']);
  });

  it('preflights are answered by the application, of whichever name', async () => {
    const { url } = await boot();
    for (const path of ['/api/semaphores/job', '/api/semaphores/a/b', `/api/semaphores/${'x'.repeat(200)}`]) {
      const answer = await fetch(url + path, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'PATCH', 'access-control-request-headers': 'content-type' },
      });
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([204, origin]);
      expect(answer.headers.get('access-control-allow-methods')).toContain('PATCH');
    }
  });
});
