import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { type ContextId, ContextIdFactory, ModuleRef } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { REQUEST_CONTEXT_ID } from '@nestjs/core/router/request/request-constants.js';
import { InvalidOptionsError, messageOf } from '../core/decision/index.js';
import { type Gatekeeper, isReal, partsOf } from '../gatekeeper/index.js';
import { type Tasks, preparedHandler, typeOf } from '../tasks/index.js';
import {
  FAILED_STRATEGY,
  LEADERS_TASK,
  QUIET_SKIP,
  REQUEST_SCOPED_CONTROLLER,
  SECOND_HANDLER,
  SECOND_INVALID_HANDLER,
  SECOND_INSTANCE,
  SECOND_SCHEDULE,
  UNSTABLE_SCHEDULE,
} from './messages.js';
import { type DecoratedMethod, DecoratedMethods } from './decorated-methods.js';
import { GatekeeperService } from './gatekeeper.service.js';
import { Lifecycle } from './lifecycle.module.js';
import { TASK_HANDLER, type TaskHandlerMetadata } from './task-handler.decorator.js';
import { CLUSTER_SINGLETON, type ClusterSingletonMetadata } from './cluster-singleton.decorator.js';
import { LEADER_ONLY } from './leader-only.decorator.js';
import { unstableName } from './class-names.js';
import { CLUSTER_CRON, type ClusterCronMetadata } from './cluster-cron.decorator.js';

type Handlers = DecoratedMethod<readonly TaskHandlerMetadata[]>;

/**
 * Connects the methods that handle tasks or run at the ticks of schedules, and begins to work when the application has
 * booted, so that no handler runs before.
 */
@Injectable()
export class TasksExplorer implements OnModuleInit {
  constructor(
    @Inject(DecoratedMethods) private readonly decorated: DecoratedMethods,
    @Inject(GatekeeperService) private readonly gatekeeper: Gatekeeper,
    @Inject(Lifecycle) lifecycle: Lifecycle,
  ) {
    void lifecycle.afterBoot(() => this.#begin());
  }

  /** @throws InvalidOptionsError listing every fault of every handler, or of every schedule */
  onModuleInit(): void {
    if (!isReal(this.gatekeeper)) return;
    const { tasks } = partsOf(this.gatekeeper);
    const methods = this.decorated.find<readonly TaskHandlerMetadata[]>(TASK_HANDLER);
    const former = new Map<string, string>();
    const faults = methods.flatMap((handlers) =>
      handlers.metadata.flatMap((metadata) => connect(handlers, metadata, tasks, former)),
    );
    if (faults.length > 0) throw new InvalidOptionsError('Handlers of tasks', faults);
    const scheduleFaults = connectSchedules(this.decorated, tasks);
    if (scheduleFaults.length > 0) throw new InvalidOptionsError('Schedules', scheduleFaults);
  }

  async #begin(): Promise<void> {
    if (isReal(this.gatekeeper)) await partsOf(this.gatekeeper).tasks.start();
  }
}

/**
 * @param former the methods that were connected before, by what they handle
 * @returns faults
 */
function connect(handlers: Handlers, metadata: TaskHandlerMetadata, tasks: Tasks, former: Map<string, string>) {
  const { method } = handlers;
  const fault = taskMethodFault(handlers);
  if (fault !== undefined) return [fault];
  const handled = handledBy(metadata);
  const other = former.get(handled);
  if (other !== undefined) {
    return [handled === INVALID ? SECOND_INVALID_HANDLER(method, other) : SECOND_HANDLER(method, other, handled)];
  }
  former.set(handled, method);
  try {
    handle(metadata, callOf(handlers), tasks);
    return [];
  } catch (error) {
    if (error instanceof InvalidOptionsError) return error.faults.map((fault) => `${method}: ${fault}`);
    throw error;
  }
}

function handle(metadata: TaskHandlerMetadata, call: Call, tasks: Tasks): void {
  if (metadata.kind === 'invalid') return tasks.handlers.onInvalid(call);
  const { kind, task, options } = metadata;
  const { type } = typeOf(task);
  if (kind === 'task') tasks.handlers.handle(type, call, options);
  else tasks.handlers.onGroupFinished(type, call, options);
}

const INVALID = 'invalid tasks';

function handledBy(metadata: TaskHandlerMetadata): string {
  if (metadata.kind === 'invalid') return INVALID;
  const { type } = typeOf(metadata.task);
  return metadata.kind === 'task' ? `tasks "${type}"` : `groups of "${type}"`;
}

type Scheduled = DecoratedMethod<readonly ClusterCronMetadata[]>;

/**
 * Connects the methods with `@ClusterCron`.
 *
 * @returns every fault of every schedule, in sentences
 */
function connectSchedules(decorated: DecoratedMethods, tasks: Tasks): string[] {
  const former = new Map<string, string>();
  const methods = decorated.find<readonly ClusterCronMetadata[]>(CLUSTER_CRON);
  return methods.flatMap((scheduled) =>
    scheduled.metadata.flatMap((metadata) => connectSchedule(scheduled, metadata, tasks, former)),
  );
}

/** @param former the methods that were connected before, by the names of their schedules */
function connectSchedule(
  scheduled: Scheduled,
  metadata: ClusterCronMetadata,
  tasks: Tasks,
  former: Map<string, string>,
) {
  const { method } = scheduled;
  const fault = taskMethodFault(scheduled);
  if (fault !== undefined) return [fault];
  const { name = method, ...options } = metadata.options;
  const unstable = metadata.options.name === undefined ? unstableName(scheduled) : undefined;
  if (unstable) return [UNSTABLE_SCHEDULE(method, unstable)];
  const other = former.get(name);
  if (other !== undefined) return [other === method ? SECOND_INSTANCE(method) : SECOND_SCHEDULE(method, other, name)];
  former.set(name, method);
  try {
    tasks.schedules.add(name, metadata.expression, callOf(scheduled), options);
    return [];
  } catch (error) {
    if (error instanceof InvalidOptionsError) return error.faults.map((fault) => `${method}: ${fault}`);
    throw error;
  }
}

type Call = (...args: unknown[]) => Promise<unknown>;

/** Calls a decorated method. A provider that is not static gets an instance per call: `REQUEST` is the first argument. */
function callOf({ instance, property, wrapper, isStatic }: DecoratedMethod<unknown>): Call {
  const call = (target: unknown, args: readonly unknown[]) => (target as Record<string, Call>)[property]!(...args);
  if (isStatic) return async (...args) => call(instance, args);
  return preparedHandler(async (...args) => {
    const target = await instanceFor(wrapper, args[0] as object);
    return () => call(target, args);
  });
}

/** Why tasks can't be given to a decorated method, in a sentence; undefined if they can. */
function taskMethodFault({ method, decorated, wrapper, isStatic }: DecoratedMethod<unknown>): string | undefined {
  if (!isStatic && wrapper.host?.controllers.has(wrapper.token)) return REQUEST_SCOPED_CONTROLLER(method);
  // A guard that skips the call returns undefined, and that would complete the task.
  if (Reflect.hasMetadata(LEADER_ONLY, decorated)) return LEADERS_TASK(method);
  const guard = Reflect.getMetadata(CLUSTER_SINGLETON, decorated) as ClusterSingletonMetadata | undefined;
  return guard && guard.options.onSkip !== 'throw' ? QUIET_SKIP(method) : undefined;
}

function instanceFor(wrapper: InstanceWrapper, request: object): Promise<object> {
  // The module's own reference: another module may have a provider of the same token.
  const { instance: moduleRef } = wrapper.host!.getProviderByKey<ModuleRef>(ModuleRef);
  return moduleRef.resolve<object>(wrapper.token, contextOf(request, wrapper, moduleRef));
}

/**
 * The id under which Nest keeps the instances of one call, made and noted as Nest's router does it for a controller. So
 * `ContextIdFactory.getByRequest(request)` finds it, and an application's strategy finds the tenant of a durable provider.
 *
 * @throws Error if the strategy can't read the context of a task
 */
function contextOf(request: object, wrapper: InstanceWrapper, moduleRef: ModuleRef): ContextId {
  const id = idOf(request);
  if (Object.hasOwn(request, REQUEST_CONTEXT_ID)) return id;
  Object.defineProperty(request, REQUEST_CONTEXT_ID, { value: id });
  // The fields of a task's context stay: a payload may have an `id`, too.
  const payload = Object.entries(Object(id.payload) as object).filter(([key]) => !(key in request));
  const isShared = wrapper.isDependencyTreeDurable() && id.getParent !== undefined;
  const provided: unknown = isShared ? id.payload : Object.assign(request, Object.fromEntries(payload));
  moduleRef.registerRequestByContextId(provided, id);
  return id;
}

function idOf(request: object): ContextId {
  try {
    return ContextIdFactory.getByRequest(request as Record<string, unknown>);
  } catch (cause) {
    throw new Error(FAILED_STRATEGY(messageOf(cause)), { cause });
  }
}
