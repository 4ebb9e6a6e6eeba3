import type { DynamicModule, Provider, Type } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { InvalidOptionsError } from '../decision/index.js';
import { AccessGuard } from './access/access.guard.js';
import { ChangeRate } from './access/change-rate.js';
import { FailedAttempts } from './access/failed-attempts.js';
import { HostGuards } from './access/host-guards.js';
import { OpenConsoleCheck } from './access/open-console.check.js';
import { CONSOLE_SETTINGS } from './console.constants.js';
import type { ConsoleOptions } from './console.options.js';
import { parseConsoleOptions, pathOf } from './console.settings.js';
import { OpenApiController } from './openapi/openapi.controller.js';
import { PageController } from './page/page.controller.js';
import { PageFiles } from './page/page-files.js';
import { PageSlash } from './page/page-slash.js';
import { FastifyRoutesModule } from './http/fastify-routes.js';
import { HeavyAnswers } from './http/heavy-answers.js';
import { UnreadAnswers } from './http/unread-answers.js';
import { HostErrors } from './http/host-errors.js';
import { HttpCheck } from './http/http-check.js';
import { PatternWarmUp } from './http/pattern-warm-up.js';
import { ProblemFilter } from './http/problem.filter.js';
import { InvalidPathController } from './routes/invalid-path.controller.js';
import { AlertsController } from './routes/alerts.controller.js';
import { AllocationController } from './routes/allocation.controller.js';
import { BulkController } from './routes/bulk.controller.js';
import { ClusterController } from './routes/cluster.controller.js';
import { RunsController } from './routes/runs.controller.js';
import { DefinitionsController } from './routes/definitions.controller.js';
import { EventsController } from './routes/events.controller.js';
import { HealthController } from './routes/health.controller.js';
import { LeadersController } from './routes/leaders.controller.js';
import { MaintenanceController } from './routes/maintenance.controller.js';
import { PermitsController } from './routes/permits.controller.js';
import { RunNowController } from './routes/run-now.controller.js';
import { SemaphoresController } from './routes/semaphores.controller.js';
import { SessionController } from './routes/session.controller.js';
import { TaskGroupsController } from './routes/task-groups.controller.js';
import { TaskOverviewController } from './routes/task-overview.controller.js';
import { TaskWorkersController } from './routes/task-workers.controller.js';
import { TasksController } from './routes/tasks.controller.js';
import { UndoController } from './routes/undo.controller.js';
import { STORE_CONTROLLERS, STORE_PROVIDERS } from './store/index.js';

const CONTROLLERS: Type[] = [
  SessionController,
  SemaphoresController,
  DefinitionsController,
  BulkController,
  UndoController,
  MaintenanceController,
  ClusterController,
  RunNowController,
  RunsController,
  LeadersController,
  AlertsController,
  AllocationController,
  PermitsController,
  TasksController,
  TaskWorkersController,
  TaskOverviewController,
  TaskGroupsController,
  EventsController,
  HealthController,
  OpenApiController,
  PageController,
  InvalidPathController,
];
const PROVIDERS: Provider[] = [
  AccessGuard,
  HostGuards,
  ProblemFilter,
  ChangeRate,
  FailedAttempts,
  HeavyAnswers,
  UnreadAnswers,
  HostErrors,
  OpenConsoleCheck,
  HttpCheck,
  PatternWarmUp,
  PageSlash,
  { provide: PageFiles, useFactory: () => new PageFiles() },
];

interface Given {
  readonly console?: ConsoleOptions;
}

/**
 * Returns the imports, controllers and providers of the console for the gatekeeper's module. Without `options` nothing
 * is mounted.
 *
 * @param optionsToken Nest's injection token of the module's options, which may come from a factory
 */
export function consoleParts(
  module: Type,
  optionsToken: string,
  options: ConsoleOptions | undefined,
): Pick<DynamicModule, 'imports' | 'controllers' | 'providers'> {
  const settings = (useFactory: (given: Given) => unknown): Provider => ({
    provide: CONSOLE_SETTINGS,
    useFactory,
    inject: [optionsToken],
  });
  if (options === undefined) return { providers: [settings(expectNone)] };
  return {
    imports: [FastifyRoutesModule, RouterModule.register([{ path: pathOf(options), module }])],
    controllers: [...CONTROLLERS, ...STORE_CONTROLLERS],
    providers: [settings((given) => parseConsoleOptions(options, given.console)), ...PROVIDERS, ...STORE_PROVIDERS],
  };
}

/** @throws InvalidOptionsError if only the factory gives `console`, because then Nest can no longer mount it */
function expectNone({ console }: Given): void {
  if (console === undefined) return;
  throw new InvalidOptionsError("GatekeeperModule's options", [
    'console: only the factory gives it, but Nest mounts controllers before it calls the factory: give forRootAsync itself console: {}, too',
  ]);
}
