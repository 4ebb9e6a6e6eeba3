import type { HttpAdapterHost } from '@nestjs/core';
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

interface Fastify {
  readonly initialConfig: RouterOptions & { readonly routerOptions?: RouterOptions };
  addHook(name: 'onRoute', hook: (route: FastifyRoute) => void): void;
}

/**
 * Calls `change` with each route before Fastify takes it; on Express never. To be called while Nest makes the providers:
 * it gives Fastify the routes before any of them is told that the application begins.
 */
export function eachFastifyRoute(
  host: HttpAdapterHost,
  change: (route: FastifyRoute, options: RouterOptions) => void,
): void {
  host.init$.subscribe(() => {
    const options = fastifyOptions(host);
    if (options) host.httpAdapter.getInstance<Fastify>().addHook('onRoute', (route) => change(route, options));
  });
}

/** How Fastify routes; undefined on Express. */
export function fastifyOptions({ httpAdapter }: HttpAdapterHost): RouterOptions | undefined {
  if (httpAdapter.getType() !== 'fastify') return undefined;
  const { initialConfig } = httpAdapter.getInstance<Fastify>();
  return { ...initialConfig, ...initialConfig.routerOptions };
}
