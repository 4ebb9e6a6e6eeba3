import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { CONSOLE_SETTINGS } from '../console.constants.js';
import type { ConsoleSettings } from '../console.settings.js';
import type { ConsoleRequest, ConsoleResponse } from './console-request.js';
import { FastifyRoutes } from './fastify-routes.js';
import { OwnCalls } from './own-calls.js';
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
  readonly #calls: OwnCalls;
  readonly #answer: Answer = (...refused) => this.filter.answerHost(...refused);

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly filter: ProblemFilter,
    routes: FastifyRoutes,
    @Inject(CONSOLE_SETTINGS) settings: ConsoleSettings,
  ) {
    this.#calls = new OwnCalls(settings.path);
    routes.each((route) => {
      if (this.#calls.has(route.url)) route.errorHandler = this.#answer;
    });
  }

  /** Installs the handler on Express before Nest adds its own, because Express uses the first one. */
  onModuleInit(): void {
    const { httpAdapter } = this.host;
    if (httpAdapter?.getType() !== 'express') return;
    httpAdapter.getInstance<Express>().use((error, request, response, next) => {
      if (this.#calls.has(originalUrlOf(request))) this.#answer(error, request, response);
      else next(error);
    });
  }
}

function originalUrlOf({ originalUrl, url }: ConsoleRequest): string {
  return originalUrl ?? url ?? '';
}
