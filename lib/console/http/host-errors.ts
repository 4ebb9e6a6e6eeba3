import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type Route, ROUTES } from '../api/index.js';
import { CONSOLE_SETTINGS } from '../console.constants.js';
import type { ConsoleSettings } from '../console.settings.js';
import { STORE_ROUTES } from '../store/store.routes.js';
import type { ConsoleRequest, ConsoleResponse } from './console-request.js';
import { FastifyRoutes } from './fastify-routes.js';
import { ProblemFilter } from './problem.filter.js';

type Answer = (error: unknown, request: ConsoleRequest, response: ConsoleResponse) => void;

interface Express {
  use(
    handler: (
      error: unknown,
      request: ConsoleRequest,
      response: ConsoleResponse,
      next: (error: unknown) => void,
    ) => void,
  ): void;
}

/**
 * Answers with problem details if the application's server refuses a request before Nest gets it, because its parser
 * can't read the body, or a plugin refuses. Only for the console's own calls.
 */
@Injectable()
export class HostErrors implements OnModuleInit {
  readonly #isOwn: (path: string) => boolean;
  readonly #answer: Answer = (...refused) => this.filter.answerHost(...refused);

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly filter: ProblemFilter,
    routes: FastifyRoutes,
    @Inject(CONSOLE_SETTINGS) settings: ConsoleSettings,
  ) {
    this.#isOwn = ownCalls(settings.path, [...Object.values(ROUTES), ...Object.values(STORE_ROUTES)]);
    routes.each((route) => {
      if (this.#isOwn(route.url)) route.errorHandler = this.#answer;
    });
  }

  /** Installs the handler on Express before Nest adds its own, because Express uses the first one. */
  onModuleInit(): void {
    const { httpAdapter } = this.host;
    if (httpAdapter?.getType() !== 'express') return;
    httpAdapter.getInstance<Express>().use((error, request, response, next) => {
      if (this.#isOwn(pathOf(request))) this.#answer(error, request, response);
      else next(error);
    });
  }
}

function pathOf({ originalUrl, url }: ConsoleRequest): string {
  return (originalUrl ?? url ?? '').split('?')[0]!;
}

/**
 * Returns a function that checks whether a path is one of the console's calls, below any prefix of the application. It
 * matches the full path, so the host's other routes never match.
 *
 * @param mount the console's own path: "internal/gatekeeper"
 */
function ownCalls(mount: string, routes: readonly Pick<Route, 'path'>[]): (path: string) => boolean {
  const calls = routes.map(({ path }) => escaped(path).replaceAll(/:\w+/g, '[^/]+'));
  const pattern = new RegExp(`(^|/)${escaped(mount)}/(${calls.join('|')})/?$`);
  return (path) => pattern.test(path);
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
