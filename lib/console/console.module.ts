import {
  type DynamicModule,
  type MiddlewareConsumer,
  Module,
  type NestModule,
  type Provider,
  type Type,
  Injectable,
  Logger,
  type OnModuleInit,
  Inject,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { AccessGuard } from './access/access.guard.js';
import { CallLimits } from './access/call-limits.js';
import { ChangeRate } from './access/change-rate.js';
import { FailedAttempts } from './access/failed-attempts.js';
import { HostGuards } from './access/host-guards.js';
import { TaskCalls } from './access/task-calls.js';
import { Tokens } from './access/tokens.js';
import { CONSOLE_CONTROLLERS, CONSOLE_SETTINGS } from './options/console.constants.js';
import type { ConsoleOptions } from './options/console.options.js';
import { parseConsoleOptions, type ConsoleSettings } from './options/console.settings.js';
import { OpenApiController } from './openapi/openapi.controller.js';
import { PageController } from './page/page.controller.js';
import { PageFiles } from './page/page-files.js';
import { AnswerInPieces } from './http/answer-in-pieces.js';
import { ConsoleRouter } from './console-router.js';
import { UnreadAnswers } from './http/unread-answers.js';
import { HostErrors } from './http/host-errors.js';
import { IncomingBodies } from './http/incoming-bodies.js';
import { PatternWarmUp } from './http/pattern-warm-up.js';
import { ProblemAnswers } from './http/problem-answers.js';
import { EventsController } from './routes/events.controller.js';
import { OperationsController } from './routes/operations.controller.js';
import { SessionController } from './routes/session.controller.js';
import { STORE_CONTROLLERS, STORE_PROVIDERS } from './store/index.js';

/** Logs a warning at the start if the console is insecure. */
@Injectable()
class OpenConsoleCheck implements OnModuleInit {
  constructor(@Inject(CONSOLE_SETTINGS) private readonly settings: ConsoleSettings) {}

  onModuleInit(): void {
    if (this.settings.insecure) new Logger('Gatekeeper').warn(OPEN);
  }
}

const OPEN =
  'the console runs with insecure: true: every client that reaches its port may change what runs. Give it tokens, unless only this machine reaches the port';

/** Logs at boot if the application has no HTTP, so that the console is not served. A worker may share the module. */
@Injectable()
class HttpCheck implements OnModuleInit {
  constructor(private readonly host: HttpAdapterHost) {}

  onModuleInit(): void {
    if (this.host.httpAdapter) return;
    new Logger('Gatekeeper').log('the console is not served: this application has no HTTP server');
  }
}

const CONTROLLERS: Type[] = [
  OperationsController,
  SessionController,
  EventsController,
  OpenApiController,
  PageController,
  ...STORE_CONTROLLERS,
];
const PROVIDERS: Provider[] = [
  AccessGuard,
  HostGuards,
  Tokens,
  ProblemAnswers,
  AnswerInPieces,
  ConsoleRouter,
  CallLimits,
  ChangeRate,
  TaskCalls,
  FailedAttempts,
  UnreadAnswers,
  HostErrors,
  OpenConsoleCheck,
  HttpCheck,
  IncomingBodies,
  PatternWarmUp,
  { provide: PageFiles, useFactory: () => new PageFiles() },
];

/** Mounts page, API and event stream of the console. A module of its own, so that an application loads it only if it has one. */
@Module({})
export class ConsoleModule implements NestModule {
  constructor(private readonly router: ConsoleRouter) {}

  /**
   * @param options of the console that are known before Nest calls a factory
   * @param optionsToken Nest's injection token of the gatekeeper's options, which may have more options of the console
   * @param imports what gives GatekeeperService and the options; nothing if they are global
   */
  static register(
    options: ConsoleOptions,
    optionsToken: string,
    imports: NonNullable<DynamicModule['imports']>,
  ): DynamicModule {
    return {
      module: ConsoleModule,
      imports,
      providers: [
        {
          provide: CONSOLE_SETTINGS,
          useFactory: (given: { readonly console?: ConsoleOptions }) => parseConsoleOptions(options, given.console),
          inject: [optionsToken],
        },
        ...PROVIDERS,
        ...STORE_PROVIDERS,
        ...CONTROLLERS,
        { provide: CONSOLE_CONTROLLERS, useFactory: (...all: object[]) => all, inject: CONTROLLERS },
      ],
    };
  }

  configure(consumer: MiddlewareConsumer): void {
    this.router.mount(consumer);
  }
}
