import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { CONSOLE_SETTINGS } from '../options/console.constants.js';
import type { ConsoleSettings } from '../options/console.settings.js';
import type { ConsoleRequest, ConsoleResponse } from './console-request.js';
import { OwnCalls } from './own-calls.js';
import { ProblemAnswers } from './problem-answers.js';

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
 * Answers with problem details if Express refuses a request before the console gets it, because its parser can't read the
 * body, or a middleware refuses. Only for the console's own calls. On Fastify the routes of the console do it themselves.
 */
@Injectable()
export class HostErrors implements OnModuleInit {
  readonly #calls: OwnCalls;

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly problems: ProblemAnswers,
    @Inject(CONSOLE_SETTINGS) settings: ConsoleSettings,
  ) {
    this.#calls = new OwnCalls(settings.path);
  }

  /** Installs the handler on Express before Nest adds its own, because Express uses the first one. */
  onModuleInit(): void {
    const { httpAdapter } = this.host;
    if (httpAdapter?.getType() !== 'express') return;
    httpAdapter.getInstance<Express>().use((error, request, response, next) => {
      if (this.#calls.has(originalUrlOf(request))) this.problems.answerHost(error, request, response);
      else next(error);
    });
  }
}

function originalUrlOf({ originalUrl, url }: ConsoleRequest): string {
  return originalUrl ?? url ?? '';
}
