import type {
  DataOf,
  GroupFunction,
  GroupHandlerOptions,
  HandlerOptions,
  InvalidTaskFunction,
  ResultOf,
  TaskDefinition,
  TaskFunction,
  TaskType,
} from '../tasks/index.js';
import { sharedKey } from '../core/copies/shared.js';
import { type DecoratorFor, markMethod } from './method-decorator.js';

/** Metadata on a method that handles tasks: a list of {@link TaskHandlerMetadata}. */
export const TASK_HANDLER = sharedKey('task-handler');

/** One decorator on a method, as written; checked when the application boots. */
export type TaskHandlerMetadata =
  | { readonly kind: 'task' | 'group'; readonly task: TaskType; readonly options?: GroupHandlerOptions | undefined }
  | { readonly kind: 'invalid' };

/**
 * Calls the method with each task of a type that this node claims. The promise that it returns is the task's result: a
 * value is kept as JSON; an `InvalidTaskError` ends the task; a `RetryLaterError` lets it wait; after any other error the
 * task is tried again, up to `maxAttempts`. Only nodes with a handler for a type work on its tasks. A provider in request
 * scope gets an instance per task, and `REQUEST` is the `TaskContext`.
 *
 * @param task the type, or its definition: then the compiler checks the method's parameter and result
 * @param options lease, keep-alive and concurrency
 * @throws InvalidOptionsError when it decorates something other than a method of instances; everything else is checked
 *   when the application boots
 *
 * @example
 * ```ts
 * @TaskHandler(mail, { concurrency: 8 })
 * async send({ data, signal }: TaskContext<Mail>) {
 *   return { messageId: await this.transport.send(data, { signal }) };
 * }
 * ```
 */
export function TaskHandler<D extends TaskDefinition>(
  task: D,
  options?: HandlerOptions,
): DecoratorFor<TaskFunction<DataOf<D>, ResultOf<D>>>;
export function TaskHandler(task: string, options?: HandlerOptions): MethodDecorator;
export function TaskHandler(task: TaskType, options?: HandlerOptions): MethodDecorator {
  return handles('@TaskHandler', { kind: 'task', task, options });
}

/**
 * Calls the method when all members of a group have ended: at least once, as a task of its own. Then the group is closed.
 *
 * @param task the type of the members, or its definition
 * @param options lease, keep-alive and concurrency
 * @throws InvalidOptionsError as {@link TaskHandler}
 *
 * @example
 * ```ts
 * @GroupFinishedHandler('import')
 * async report({ group, failed, total }: GroupContext) {
 *   await this.mailer.send(`${group}: ${total - failed} of ${total} files were imported`);
 * }
 * ```
 */
export function GroupFinishedHandler<D extends TaskDefinition>(
  task: D,
  options?: GroupHandlerOptions,
): DecoratorFor<GroupFunction<ResultOf<D>>>;
export function GroupFinishedHandler(task: string, options?: GroupHandlerOptions): MethodDecorator;
export function GroupFinishedHandler(task: TaskType, options?: GroupHandlerOptions): MethodDecorator {
  return handles('@GroupFinishedHandler', { kind: 'group', task, options });
}

/**
 * Calls the method with each task on this node whose handler threw an `InvalidTaskError`, or whose result can't be kept,
 * and with that error. Then the task is kept as a dead letter. An error of the method only makes a `problem` event.
 *
 * @throws InvalidOptionsError as {@link TaskHandler}
 */
export function InvalidTaskHandler(): DecoratorFor<InvalidTaskFunction> {
  return handles('@InvalidTaskHandler', { kind: 'invalid' });
}

function handles(decorator: string, metadata: TaskHandlerMetadata): MethodDecorator {
  return markMethod(decorator, TASK_HANDLER, metadata);
}
