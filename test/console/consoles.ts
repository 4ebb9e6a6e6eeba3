import { once } from 'node:events';
import { request } from 'node:http';
import type { CanActivate, INestApplication, LoggerService, ModuleMetadata } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import {
  type ConsoleOptions,
  GatekeeperModule,
  type GatekeeperOptions,
  GatekeeperService,
  type StoreDefinition,
  memory,
} from 'nestjs-gatekeeper';

import { until } from '../support/apps.js';
import { partsOf } from '../../lib/gatekeeper/parts.js';
import { ShardsUnreadError } from '../../lib/core/cell/shards-unread.error.js';

export type Platform = 'Express' | 'Fastify';

/** Platforms that suites run on: Express, or the one that the environment names. `npm run verify -- servers` has Fastify. */
export const PLATFORMS = [(process.env['CONSOLE_PLATFORM'] ?? 'Express') as Platform] as const;

export const TOKENS = {
  view: 'token-of-vera-0123456789',
  operate: 'token-of-otto-0123456789',
  define: 'token-of-dora-0123456789',
  node: 'token-of-nora-0123456789',
} as const;

export const SETTINGS: ConsoleOptions = {
  tokens: [
    { token: TOKENS.view, name: 'vera', role: 'view' },
    { token: TOKENS.operate, name: 'otto', role: 'operate' },
    { token: TOKENS.define, name: 'dora', role: 'define' },
    { token: TOKENS.node, name: 'nora', role: 'node' },
  ],
};

/** How a host application is made. */
export interface Host {
  readonly platform?: Platform;
  readonly console?: ConsoleOptions | null;
  readonly gatekeeper?: Partial<GatekeeperOptions>;
  readonly store?: StoreDefinition;
  readonly metadata?: ModuleMetadata;
  /** Options of `createNestApplication`. */
  readonly application?: object;
  /** Options of the `FastifyAdapter`. */
  readonly fastify?: object;
  /** Configures the application before it starts. */
  readonly prepare?: (app: INestApplication) => void;
  /** Providers that others take the place of. */
  readonly overrides?: readonly (readonly [token: unknown, value: unknown])[];
  /** The application's own prefix. */
  readonly prefix?: string;
}

export interface CallOptions extends Omit<RequestInit, 'headers'> {
  /** null: none is sent. */
  readonly token?: string | null;
  readonly headers?: Record<string, string>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body, when it is JSON of any kind. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any;
}

/** A console that listens, and a client of it. */
export interface Console {
  readonly app: INestApplication;
  readonly gatekeeper: GatekeeperService;
  /** Without a slash at the end. */
  readonly url: string;
  /** All that was logged. */
  readonly log: string[];
  get(path: string, options?: CallOptions): Promise<Answer>;
  send(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  /** Sends a text as JSON, whatever it is. */
  post(path: string, text: string): Promise<Answer>;
}

/** A busy machine may keep a reading of the clock waiting: one that takes longer than the tolerance does not count. */
const QUICK: Partial<GatekeeperOptions> = { definitionsDelay: 0, clockTolerance: 100 };

/** Consoles that are closed when the test ends. */
export function useConsoles() {
  const apps: INestApplication[] = [];
  afterEach(async () => {
    await Promise.all(apps.splice(0).map((app) => app.close()));
  });

  return async function start(host: Host = {}): Promise<Console> {
    const log: string[] = [];
    const app = await createApp(host, log);
    apps.push(app);
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address();
    const prefix = host.prefix ? `/${host.prefix}` : '';
    const url = `http://127.0.0.1:${port}${prefix}/${host.console?.path ?? 'gatekeeper'}`;
    const gatekeeper = app.get(GatekeeperService);
    for (const { name } of partsOf(gatekeeper).directory.declared.all)
      await until(async () => !!(await gatekeeper.definitions.get(name).catch(notReadYet)));
    return { app, gatekeeper, url, log, ...clientOf(url) };
  };
}

/** On a busy machine a node may need longer for its first reading than one call waits. */
function notReadYet(error: unknown): undefined {
  if (!(error instanceof ShardsUnreadError)) throw error;
}

/** An application that has not started yet. */
export async function createApp(host: Host, log: string[] = []): Promise<INestApplication> {
  const {
    platform = 'Express',
    console = SETTINGS,
    store = memory(),
    metadata = {},
    application = {},
    fastify = {},
  } = host;
  const forRoot = GatekeeperModule.forRoot({
    store,
    acquirer: 'app1',
    ...QUICK,
    ...host.gatekeeper,
    ...(console && { console }),
  });
  const builder = Test.createTestingModule({ ...metadata, imports: [...(metadata.imports ?? []), forRoot] });
  for (const [token, value] of host.overrides ?? []) builder.overrideProvider(token).useValue(value);
  const module = await builder.setLogger(collecting(log)).compile();
  const adapter = platform === 'Express' ? new ExpressAdapter() : new FastifyAdapter(fastify);
  const app = module.createNestApplication(adapter as ExpressAdapter, application);
  app.useLogger(collecting(log));
  if (host.prefix) app.setGlobalPrefix(host.prefix);
  host.prepare?.(app);
  return app;
}

/**
 * Sends a request and does not wait for its answer. Does not use `fetch`: after an abort it opens another connection,
 * on which it sends nothing, and a server that closes waits for it until the client's limit of idle time: 4 s, or more
 * than a minute if Fastify once answered at this address.
 *
 * @returns hangs up, and tells whether the answer had come
 */
export function willHangUp(
  { url }: Console,
  { method = 'GET', path, token = TOKENS.node, body }: { method?: string; path: string; token?: string; body?: object },
): () => Promise<'gone' | 'answered'> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const sent = request(`${url}${path}`, { method, headers, agent: false });
  let outcome: 'gone' | 'answered' = 'gone';
  sent.once('response', () => (outcome = 'answered'));
  sent.on('error', () => undefined); // Its connection ends without an answer, as is wanted.
  sent.end(body && JSON.stringify(body));
  return () => new Promise((resolve) => sent.destroy().once('close', () => resolve(outcome)));
}

function clientOf(url: string): Pick<Console, 'get' | 'send' | 'post'> {
  const call = async (path: string, { token = TOKENS.define, headers, ...init }: CallOptions) => {
    const authorization: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(`${url}${path}`, { ...init, headers: { ...authorization, ...headers } });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
  };
  return {
    get: (path, options = {}) => call(path, options),
    post: (path, text) => call(path, { method: 'POST', body: text, headers: { 'content-type': 'application/json' } }),
    send: (method, path, body = {}, { headers, ...options } = {}) =>
      call(path, {
        ...options,
        method,
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...headers },
      }),
  };
}

/** Lets a request in after its client has gone. */
export class SlowGuard implements CanActivate {
  asked = 0;
  passed = 0;

  async canActivate(context: Parameters<CanActivate['canActivate']>[0]): Promise<boolean> {
    const response = context.switchToHttp().getResponse();
    this.asked++;
    await once(response.raw ?? response, 'close');
    this.passed++;
    return true;
  }
}

function collecting(log: string[]): LoggerService {
  const level = (name: string) => (message: unknown) => void log.push(`${name} ${message}`);
  return {
    log: level('log'),
    warn: level('warn'),
    error: level('error'),
    debug: level('debug'),
    fatal: level('fatal'),
  };
}
