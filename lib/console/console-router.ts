import { Inject, Injectable, Logger, type MiddlewareConsumer } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost } from '@nestjs/core';
import { AccessGuard } from './access/access.guard.js';
import { CONSOLE_CONTROLLERS, CONSOLE_SETTINGS } from './options/console.constants.js';
import type { ConsoleSettings } from './options/console.settings.js';
import type { Method } from './api/operation.js';
import { AnswerInPieces } from './http/answer-in-pieces.js';
import { type ConsoleRequest, type ConsoleResponse, rawRequest, rawResponse } from './http/console-request.js';
import type { Controller, Handler } from './http/handlers.js';
import { IncomingBodies } from './http/incoming-bodies.js';
import { ProblemAnswers } from './http/problem-answers.js';
import { ProblemError } from './api/problem.error.js';
import { type Found, RouteTable } from './http/route-table.js';

const HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

/** Express's request in a middleware that is mounted below a path. */
interface ExpressRequest extends ConsoleRequest {
  /** The path at which the middleware is mounted. */
  readonly baseUrl: string;
  readonly app: { path(): string };
}

interface RouterOptions {
  readonly ignoreTrailingSlash?: boolean;
  readonly ignoreDuplicateSlashes?: boolean;
}

interface FastifyRoute {
  readonly method: readonly string[];
  readonly url: string;
  /** Called before the body is read. */
  readonly onRequest: (request: ConsoleRequest, reply: ConsoleResponse, done: () => void) => void;
  readonly handler: (request: ConsoleRequest, reply: ConsoleResponse & { callNotFound(): void }) => void;
  readonly errorHandler: (error: unknown, request: ConsoleRequest, reply: ConsoleResponse) => void;
}

interface Fastify {
  readonly initialConfig: RouterOptions & { readonly routerOptions?: RouterOptions };
  route(route: FastifyRoute): void;
}

const METHODS: readonly Method[] = ['GET', 'POST', 'PATCH', 'DELETE'];

/**
 * Gives the console's requests to its controllers, and sends their answers.
 *
 * Not Nest's router: around each of its handlers it puts the global guards, interceptors, pipes and filters of the application,
 * and nothing takes a route out of them. A handler below them can't send its answer past an interceptor either: an interceptor
 * waits for the value of its handler, and answers with what it makes of it. So the console stands where other tools that are
 * mounted into Nest stand: behind the application's middleware, and before its routes.
 *
 * | server  | mounted as                                                                            |
 * | ------- | ------------------------------------------------------------------------------------- |
 * | Express | a middleware of Nest, behind those of modules that import the gatekeeper's            |
 * | Fastify | routes: on a middleware, Fastify has neither read the body nor set the headers of CORS |
 */
@Injectable()
export class ConsoleRouter {
  readonly #table: RouteTable<Handler>;

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly application: ApplicationConfig,
    private readonly guard: AccessGuard,
    private readonly answers: AnswerInPieces,
    private readonly problems: ProblemAnswers,
    private readonly bodies: IncomingBodies,
    @Inject(CONSOLE_SETTINGS) private readonly settings: ConsoleSettings,
    @Inject(CONSOLE_CONTROLLERS) controllers: readonly Controller[],
  ) {
    this.#table = new RouteTable(controllers.flatMap(({ handlers }) => handlers));
  }

  /**
   * Mounts the console. Call this from `configure` of a module. All supported versions of Nest call it in applications with HTTP,
   * after the creation of the providers and before the registration of routes.
   */
  mount(consumer: MiddlewareConsumer): void {
    const base = this.#basePath();
    if (this.host.httpAdapter.getType() === 'fastify') this.#mountOnFastify(base);
    else this.#mountOnExpress(consumer, base);
    new Logger('Gatekeeper').log(`the console is at ${base}`);
  }

  /** The console's path with the prefix of the application. */
  #basePath(): string {
    const path = `/${this.settings.path}`;
    const { exclude = [] } = this.application.getGlobalPrefixOptions();
    const prefix = this.application.getGlobalPrefix().replace(/^\/+|\/+$/g, '');
    return prefix === '' || exclude.some(({ pathRegex }) => pathRegex.test(path)) ? path : `/${prefix}${path}`;
  }

  #mountOnExpress(consumer: MiddlewareConsumer, base: string): void {
    const middleware = (request: ExpressRequest, response: ConsoleResponse, next: () => void) => {
      const isServed = this.#isMountedAt(base, request) && this.#serve(pathOf(request.url), request, response);
      if (!isServed) next();
    };
    consumer.apply(middleware).forRoutes(this.settings.path);
  }

  /** With versions in paths, Nest 11 and later also mount a middleware below the default version. The console has no version. */
  #isMountedAt(base: string, { baseUrl, app }: ExpressRequest): boolean {
    if (this.application.getVersioning()?.defaultVersion === undefined) return true;
    // Another application of Express may have mounted this one.
    return `${app.path()}${base}`.toLowerCase() === baseUrl.toLowerCase();
  }

  #mountOnFastify(base: string): void {
    const fastify = this.host.httpAdapter.getInstance<Fastify>();
    const { initialConfig } = fastify;
    const options = { ...initialConfig, ...initialConfig.routerOptions };
    for (const below of this.#table.roots()) {
      // Without this option, a slash at the end makes another path.
      const urls = below === '/' ? [base, ...(options.ignoreTrailingSlash ? [] : [`${base}/`])] : [base + below];
      for (const url of urls) fastify.route({ method: METHODS, url, ...this.#fastifyHandlers(base, options) });
    }
  }

  #fastifyHandlers(base: string, { ignoreDuplicateSlashes }: RouterOptions): Omit<FastifyRoute, 'method' | 'url'> {
    return {
      onRequest: (request, _, done) => this.bodies.letsIn(rawRequest(request)) && done(),
      handler: (request, reply) => {
        const sent = pathOf(request.url);
        const path = ignoreDuplicateSlashes ? sent.replaceAll(/\/{2,}/g, '/') : sent;
        // Fastify also takes a path whose letters are encoded.
        const isBelow = path.toLowerCase().startsWith(base.toLowerCase());
        if (!isBelow || !this.#serve(path.slice(base.length) || '/', request, reply)) reply.callNotFound();
      },
      errorHandler: (error, request, reply) => this.problems.answerHost(error, request, reply),
    };
  }

  /** @returns whether the path is one of the console */
  #serve(path: string, request: ConsoleRequest, response: ConsoleResponse): boolean {
    const found = this.#table.find(request.method, path);
    if (found) void this.#answer(found, request, response);
    return found !== undefined;
  }

  async #answer({ served, params }: Found<Handler>, request: ConsoleRequest, response: ConsoleResponse): Promise<void> {
    const { httpAdapter } = this.host;
    const { route } = served;
    try {
      request.params = decoded(params);
      const call = { route, request, response };
      await this.guard.admit(call);
      response.status(route.status ?? 200);
      for (const [name, value] of Object.entries(HEADERS)) response.header(name, value);
      const answer = await this.answers.make(call, served);
      // A stream has begun to answer itself. `reply` is not awaited: on Fastify it resolves when all is sent.
      if (!rawResponse(response).headersSent) void httpAdapter.reply(response, answer);
    } catch (error) {
      this.problems.answer(error, request, response);
    }
  }
}

/** The path of a URL, which may be a whole address in requests of a proxy. */
function pathOf(url = ''): string {
  return url.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1)[0]! || '/';
}

function decoded(params: Readonly<Record<string, string>>): Record<string, string> {
  try {
    return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]));
  } catch (cause) {
    throw new ProblemError('bad-request', 'the path has a "%" that begins no escape: write it as "%25"', {}, { cause });
  }
}
