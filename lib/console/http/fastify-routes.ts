import { Injectable, Module, type NestModule } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { ConsoleRequest, ConsoleResponse } from './console-request.js';

export type OnRequest = (request: ConsoleRequest, response: ConsoleResponse, done: () => void) => void;

/** A route, as Fastify gives it to its hook `onRoute`, which may change it. */
export interface FastifyRoute {
  url: string;
  /** Called before the body is read. */
  onRequest?: OnRequest | readonly OnRequest[];
  errorHandler?: (error: unknown, request: ConsoleRequest, response: ConsoleResponse) => void;
}

interface RouterOptions {
  readonly ignoreTrailingSlash?: boolean;
  readonly maxParamLength?: number;
}

type Change = (route: FastifyRoute, options: RouterOptions) => void;

interface Fastify {
  readonly initialConfig: RouterOptions & { readonly routerOptions?: RouterOptions };
  addHook(name: 'onRoute', hook: (route: FastifyRoute) => void): void;
}

/**
 * Changes routes before Fastify registers them. Does nothing on Express and in applications without HTTP.
 *
 * A controller with a wildcard can't do the same. Nest 10 and 11 write wildcards differently, and Nest can be
 * configured to refuse overlapping routes. Also, a controller gets no request to a path that ends with a slash, and no
 * request that Fastify refuses before the handler, because of an unreadable body or an error of a plugin.
 */
@Injectable()
export class FastifyRoutes {
  readonly #changes: Change[] = [];

  constructor(private readonly host: HttpAdapterHost) {}

  /** Routing options of Fastify; undefined on Express and without HTTP. */
  get options(): RouterOptions | undefined {
    const { httpAdapter } = this.host;
    if (httpAdapter?.getType() !== 'fastify') return undefined;
    const { initialConfig } = httpAdapter.getInstance<Fastify>();
    return { ...initialConfig, ...initialConfig.routerOptions };
  }

  /**
   * Calls `change` for each route. Call this from the constructor of a provider: later Fastify has registered its
   * routes.
   */
  each(change: Change): void {
    this.#changes.push(change);
  }

  /** Adds the hook to Fastify. */
  install(): void {
    const { options } = this;
    if (!options) return;
    this.host.httpAdapter.getInstance<Fastify>().addHook('onRoute', (route) => {
      for (const change of this.#changes) change(route, options);
    });
  }
}

/**
 * Installs the hook from `configure`. All supported versions of Nest call it after the creation of the providers and
 * before the registration of the routes, and only in applications with HTTP. `onModuleInit` is too late, and Nest 10
 * has no `HttpAdapterHost.init$`.
 */
@Module({ providers: [FastifyRoutes], exports: [FastifyRoutes] })
export class FastifyRoutesModule implements NestModule {
  constructor(private readonly routes: FastifyRoutes) {}

  configure(): void {
    this.routes.install();
  }
}
