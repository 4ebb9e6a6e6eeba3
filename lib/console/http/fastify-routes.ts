import { Injectable, Module, type NestModule } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { ConsoleRequest, ConsoleResponse } from './console-request.js';

/** A route as Fastify's hook may change it. */
export interface FastifyRoute {
  url: string;
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
 * Changes routes before Fastify takes them. Does nothing on Express and in applications without HTTP.
 *
 * A controller with a wildcard can't take its place. Nest 10 writes wildcards in another way than Nest 11, and can be
 * configured to refuse routes that overlap. A controller hears neither of a path that ends with a slash nor of a request
 * that Fastify refuses before its handler: a body that can't be read, a plugin's error.
 */
@Injectable()
export class FastifyRoutes {
  readonly #changes: Change[] = [];

  constructor(private readonly host: HttpAdapterHost) {}

  /** Fastify's routing options; undefined on Express and without HTTP. */
  get options(): RouterOptions | undefined {
    const { httpAdapter } = this.host;
    if (httpAdapter?.getType() !== 'fastify') return undefined;
    const { initialConfig } = httpAdapter.getInstance<Fastify>();
    return { ...initialConfig, ...initialConfig.routerOptions };
  }

  /** Calls `change` with each route. Call this from a provider's constructor: afterwards Fastify has its routes. */
  each(change: Change): void {
    this.#changes.push(change);
  }

  install(): void {
    const { options } = this;
    if (!options) return;
    this.host.httpAdapter.getInstance<Fastify>().addHook('onRoute', (route) => {
      for (const change of this.#changes) change(route, options);
    });
  }
}

/**
 * Installs the hook from `configure`: Nest calls it after it made the providers and before it registers routes, in every
 * major and only where there is HTTP. `onModuleInit` comes after the routes; `HttpAdapterHost.init$` is missing in
 * Nest 10.
 */
@Module({ providers: [FastifyRoutes], exports: [FastifyRoutes] })
export class FastifyRoutesModule implements NestModule {
  constructor(private readonly routes: FastifyRoutes) {}

  configure(): void {
    this.routes.install();
  }
}
