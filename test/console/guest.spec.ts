import {
  type CallHandler,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  type INestApplication,
  Inject,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type ModuleMetadata,
  type NestModule,
  SetMetadata,
  UnauthorizedException,
  VersioningType,
} from '@nestjs/common';
import {
  APP_FILTER,
  APP_GUARD,
  APP_INTERCEPTOR,
  APP_PIPE,
  DiscoveryModule,
  DiscoveryService,
  Reflector,
} from '@nestjs/core';
import { NEVER, concat, count, map, of } from 'rxjs';
import { remote } from 'nestjs-gatekeeper';
import { PageFiles } from '../../lib/console/page/page-files.js';
import { expectProblem } from './api.contract.js';
import { type Console, type Host, PLATFORMS, SETTINGS, TOKENS, createApp, useConsoles } from './consoles.js';
import { EventReader } from './event-reader.js';

@Controller()
class HostController {
  @Get('own')
  own(): string {
    return 'own';
  }
}

const PAGE: Host['overrides'] = [
  [PageFiles, new PageFiles(() => ({ page: { type: 'text/html', text: '<!doctype html>' }, assets: {} }))],
];

/** What applications do with every answer of theirs. */
const INTERCEPTORS = {
  'wraps every value': (next: CallHandler) => next.handle().pipe(map((data: unknown) => ({ success: true, data }))),
  'counts the values': (next: CallHandler) => next.handle().pipe(count()),
  'answers from a cache': () => of('cached'),
  'never answers': () => NEVER,
  'answers before the handler': (next: CallHandler) => concat(of('early'), next.handle()),
};

describe.each(PLATFORMS)("the application's global enhancers on %s", (platform) => {
  const start = useConsoles();
  const metadata = { controllers: [HostController] };
  const own = async ({ url }: Console) => fetch(`${new URL(url).origin}/own`);

  describe.each(Object.entries(INTERCEPTORS))('an interceptor that %s', (_, around) => {
    const intercept = (_context: ExecutionContext, next: CallHandler) => around(next);
    const provided = { ...metadata, providers: [{ provide: APP_INTERCEPTOR, useValue: { intercept } }] };

    it.each<[string, Host]>([
      ['as APP_INTERCEPTOR', { metadata: provided }],
      ['by useGlobalInterceptors', { metadata, prepare: (app) => void app.useGlobalInterceptors({ intercept }) }],
    ])('touches no page, no answer and no stream of the console: %s', async (_how, host) => {
      const console = await start({ platform, overrides: PAGE, ...host });
      const page = await console.get('/');
      expect([page.headers.get('content-type'), page.text]).toEqual(['text/html', '<!doctype html>']);
      expect((await console.get('/api/session')).json).toMatchObject({ user: 'dora', role: 'define' });
      const defined = await console.send('POST', '/api/semaphores', { name: 'job', duration: '10s' });
      expect([defined.status, defined.json.definition.name]).toEqual([201, 'job']);
      expectProblem(await console.get('/api/semaphores/none'), 404, 'unknown-semaphore');
      const reader = await EventReader.open(`${console.url}/api/events`);
      await console.send('POST', '/api/semaphores/job/pause');
      await reader.until(({ events }) => events.some(({ event }) => event === 'change'));
      reader.close();
    });
  });

  it('apply to its own routes as ever', async () => {
    const intercept = (_: ExecutionContext, next: CallHandler) => INTERCEPTORS['wraps every value'](next);
    const console = await start({
      platform,
      metadata,
      prepare: (app) => void app.useGlobalInterceptors({ intercept }),
    });
    expect(await (await own(console)).json()).toEqual({ success: true, data: 'own' });
  });

  it('leave the store to nodes of other applications', async () => {
    const intercept = () => NEVER;
    const { url } = await start({ platform, prepare: (app) => void app.useGlobalInterceptors({ intercept }) });
    const store = remote({ url, token: TOKENS.node }).open({ callTimeout: 10_000 });
    expect(await store.records.compareAndSet('key', undefined, 'text')).toBe(true);
    expect(await store.records.read('key')).toBe('text');
    await store.close();
  });

  it('guards, pipes and filters are not asked either, and the own access stays', async () => {
    const fail = (): never => {
      throw new UnauthorizedException('no JWT');
    };
    const providers = [
      { provide: APP_GUARD, useValue: { canActivate: fail } },
      { provide: APP_PIPE, useValue: { transform: fail } },
      { provide: APP_FILTER, useValue: { catch: fail } },
    ];
    const console = await start({ platform, metadata: { ...metadata, providers } });
    expect((await console.get('/api/session')).status).toBe(200);
    expectProblem(await console.get('/api/session', { token: null }), 401, 'no-token');
    expectProblem(await console.get('/api/session', { token: 'wrong-token-0123456789' }), 401, 'no-token');
    expectProblem(await console.send('POST', '/api/semaphores', { name: 1 }), 400, 'invalid-options');
  });
});

const Public = () => SetMetadata('isPublic', true);

@Injectable()
class Sessions {
  readonly known = ['ann'];
}

/** As in Nest's documentation: global, with a provider that the console does not know. */
@Injectable()
class JwtGuard implements CanActivate {
  constructor(
    @Inject(Reflector) private readonly reflector: Reflector,
    @Inject(Sessions) private readonly sessions: Sessions,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    if (this.reflector.getAllAndOverride('isPublic', [context.getHandler(), context.getClass()])) return true;
    const { headers } = context.switchToHttp().getRequest();
    if (this.sessions.known.includes(headers['x-user'])) return true;
    throw new UnauthorizedException('no JWT');
  }
}

describe.each(PLATFORMS)('a global guard that the console lists on %s', (platform) => {
  const start = useConsoles();
  const providers = [Sessions, { provide: APP_GUARD, useClass: JwtGuard }];

  it('is asked: the instance of the application', async () => {
    const { get } = await start({ platform, metadata: { providers }, console: { ...SETTINGS, guards: [JwtGuard] } });
    expectProblem(await get('/api/session'), 401, 'no-token');
    expect((await get('/api/session', { headers: { 'x-user': 'ann' } })).status).toBe(200);
  });

  it('reads the metadata of the console, as of a controller', async () => {
    const console = { ...SETTINGS, guards: [JwtGuard], decorators: [Public()] };
    const { get } = await start({ platform, metadata: { providers }, console });
    expect((await get('/api/session')).status).toBe(200);
  });

  it.each<[string, (context: ExecutionContext) => object]>([
    ['the method', (context) => context.getHandler()],
    ['the class', (context) => context.getClass()],
  ])('finds them at %s', async (_, of) => {
    const guard = { canActivate: (context: ExecutionContext) => Reflect.getMetadata('isPublic', of(context)) === true };
    const { get } = await start({ platform, console: { ...SETTINGS, guards: [guard], decorators: [Public()] } });
    expect((await get('/api/session')).status).toBe(200);
  });

  it('finds none of another application in the same process', async () => {
    const guard = { canActivate: (context: ExecutionContext) => !Reflect.hasMetadata('isPublic', context.getClass()) };
    await start({ platform, console: { ...SETTINGS, decorators: [Public()] } });
    const { get } = await start({ platform, console: { ...SETTINGS, guards: [guard] } });
    expect((await get('/api/session')).status).toBe(200);
  });

  it('of decorators that are none, the application does not start', async () => {
    const booting = createApp({ platform, console: { ...SETTINGS, decorators: ['SkipThrottle'] as never } });
    await expect(booting).rejects.toThrow(/decorators\.0: "SkipThrottle" is no decorator/);
  });
});

describe.each(PLATFORMS)('an application with the console on %s', (platform) => {
  const start = useConsoles();

  it('has none of its controllers, so an OpenAPI document of the application names only its own routes', async () => {
    const metadata = { imports: [DiscoveryModule], controllers: [HostController] };
    const { app } = await start({ platform, metadata });
    const controllers = app.get(DiscoveryService).getControllers();
    expect(controllers.map(({ name }) => name)).toEqual(['HostController']);
  });

  it('logs one line about its routes', async () => {
    const { log } = await start({ platform, prefix: 'internal' });
    expect(log.filter((line) => line.includes('/gatekeeper'))).toEqual(['log the console is at /internal/gatekeeper']);
    expect(log.filter((line) => line.includes('Mapped'))).toEqual([]);
  });

  it('serves it below its prefix, unless the prefix has an exception for it', async () => {
    const excluding = (app: INestApplication) => void app.setGlobalPrefix('v1', { exclude: ['gatekeeper'] });
    const { get, log } = await start({ platform, prepare: excluding });
    expect((await get('/api/session')).status).toBe(200);
    expect(log).toContain('log the console is at /gatekeeper');
  });

  it('serves it at one address, whatever the default version of its own routes', async () => {
    const versioned = (app: INestApplication) =>
      void app.enableVersioning({ type: VersioningType.URI, defaultVersion: '7' });
    const { get, url } = await start({ platform, prepare: versioned });
    expect((await get('/api/session')).status).toBe(200);
    const below = await fetch(`${new URL(url).origin}/v7/gatekeeper/api/session`, {
      headers: { authorization: `Bearer ${TOKENS.view}` },
    });
    expect(below.status).toBe(404);
  });

  it('serves it before a route of its own that takes everything', async () => {
    @Controller()
    class Everything {
      @Get(platform === 'Fastify' ? '*' : '*rest')
      any(): string {
        return 'everything';
      }
    }
    const { get, url } = await start({ platform, metadata: { controllers: [Everything] } });
    expect((await get('/api/session')).json.user).toBe('dora');
    expect(await (await fetch(`${new URL(url).origin}/elsewhere`)).text()).toBe('everything');
  });

  it('has its middleware run before the console, whose guards may need it', async () => {
    type Raw = { raw?: Raw; user?: string };
    @Module({})
    class SessionModule implements NestModule {
      configure(consumer: MiddlewareConsumer): void {
        consumer
          .apply((request: Raw, _: unknown, next: () => void) => ((request.user = 'ann'), next()))
          .forRoutes('{*rest}');
      }
    }
    const guard = {
      canActivate: (context: ExecutionContext) => {
        const request = context.switchToHttp().getRequest<Raw & { gatekeeperUser?: string }>();
        request.gatekeeperUser = request.raw?.user ?? request.user;
        return true;
      },
    };
    const metadata: ModuleMetadata = { imports: [SessionModule] };
    const { get } = await start({ platform, metadata, console: { guards: [guard] } });
    expect((await get('/api/session', { token: null })).json.user).toBe('ann');
  });
});
