import { Inject, Injectable } from '@nestjs/common';
import { type Gatekeeper, partsOf } from '../gatekeeper/index.js';
import type {
  CancelOptions,
  Cancelled,
  DataOf,
  GroupCancelled,
  GroupFunction,
  HandledType,
  GroupHandlerOptions,
  HandlerOptions,
  InvalidTaskFunction,
  Released,
  ResultOf,
  Retried,
  ScheduleFunction,
  ScheduleOptions,
  ScheduleView,
  SubmitArguments,
  SubmitRequest,
  Submitted,
  DistributeOptions,
  TaskDefinition,
  TaskExplanation,
  TaskFunction,
  TaskName,
  TaskView,
  TaskType,
  Tasks,
} from '../tasks/index.js';
import { GatekeeperService } from './gatekeeper.service.js';
import { SharedService } from './shared-services.js';

/** Distributed tasks: submitted on any node, done at least once on a node that handles their type. */
@Injectable()
@SharedService('TasksService')
export class TasksService {
  constructor(@Inject(GatekeeperService) private readonly gatekeeper: Gatekeeper) {}

  /**
   * Submits a task. It is in the store when the promise resolves; it does not wait until the task has run. The same id
   * again is ignored while the task has not ended, so submit it again after an error.
   *
   * @param name made with `single()` or `grouped()`
   * @param rest the data: any JSON value, of the type of the name's definition; then options, which override those of the
   *   definition
   * @returns whether the task is new (`created`) or there was such a task (`known`), and why
   * @throws InvalidOptionsError if the data or an option can't be used, or members of a group disagree on the total
   * @throws StoreUnavailableError (NoQuorumError) if surely nothing was submitted, UnknownOutcomeError otherwise
   */
  submit<In>(name: TaskName<In>, ...rest: SubmitArguments<In>): Promise<Submitted> {
    return this.#tasks.submit(name, ...rest);
  }

  /**
   * Submits a task of a serial queue: one of its tasks runs at a time in the whole cluster, in the order of their submissions.
   *
   * @param queue name of the queue: 1 to 200 characters
   * @param name made with `single()`
   * @throws InvalidOptionsError as {@link submit}, and for a member of a group, and with `after`
   * @throws StoreUnavailableError, UnknownOutcomeError
   */
  submitSerial<In>(queue: string, name: TaskName<In>, ...rest: SubmitArguments<In>): Promise<Submitted> {
    return this.#tasks.submitSerial(queue, name, ...rest);
  }

  /**
   * Submits a list of tasks, 64 at the same time.
   *
   * @param tasks a list, or a generator (also an asynchronous one), which is asked for the next task when there is room
   * @returns the answers in the order of the list
   * @throws InvalidOptionsError if options stand beside the list
   * @throws SubmitManyError after the first error. It says which tasks were submitted, and its `cause` is the error
   */
  submitMany<In>(tasks: Iterable<SubmitRequest<In>> | AsyncIterable<SubmitRequest<In>>): Promise<Submitted[]>;
  submitMany(...list: Parameters<Tasks['submitMany']>): Promise<Submitted[]> {
    return this.#tasks.submitMany(...list);
  }

  /**
   * Submits a list of tasks and addresses them to nodes in turn, such as for a leader that hands out pieces of work. When a
   * node is gone, its tasks move to other living nodes that handle their type. A task that is known keeps its address, so
   * call it again after an error.
   *
   * @param tasks as for {@link submitMany}, without the option `to`
   * @param options `over`: the nodes, such as `cluster.clusterStatus().participants`
   * @returns the answers in the order of the list
   * @throws InvalidOptionsError if an option can't be used, such as an empty list of nodes
   * @throws SubmitManyError after the first error of a submission; its `cause` is the error
   */
  distribute<In>(
    tasks: Iterable<SubmitRequest<In>> | AsyncIterable<SubmitRequest<In>>,
    options: DistributeOptions,
  ): Promise<Submitted[]> {
    return this.#tasks.distribute(tasks, options);
  }

  /**
   * The task as it stands in the store.
   *
   * @param task its name or id
   * @returns undefined if there is none, or none any more
   * @throws StoreUnavailableError
   */
  find(task: TaskName | string): Promise<TaskView | undefined> {
    return this.#tasks.find(task);
  }

  /**
   * Explains why a task does not run, or where it runs, with a sentence for people. Changes nothing.
   *
   * @param task its name or id
   * @throws StoreUnavailableError
   */
  explain(task: TaskName | string): Promise<TaskExplanation> {
    return this.#tasks.explain(task);
  }

  /**
   * Cancels a task. One that waits ends at once. If a node works on it, the signal of its handler aborts with a
   * {@link TaskCancelledError}, and its result is refused. Idempotent: after an error, cancel it again.
   *
   * @param task its name or id
   * @param options `by`: the author, default the name of this node; `reason`: for the handler and for people
   * @returns whether it was `cancelled`, or that was `requested` of the node that works on it, or it had `ended`, and why
   * @throws InvalidOptionsError if an option can't be used
   * @throws StoreUnavailableError (NoQuorumError) if surely nothing was changed, UnknownOutcomeError otherwise
   */
  cancel(task: TaskName | string, options?: CancelOptions): Promise<Cancelled> {
    return this.#tasks.cancel(task, options);
  }

  /**
   * Cancels all tasks of a group that have not ended, also members that are submitted later. Their sub-tasks go on. Then the
   * handler of the group runs. Idempotent: after an error, call it again.
   *
   * @param task type of the members, or its definition
   * @param group name of the group
   * @param options as for {@link cancel}
   * @returns whether they are `cancelled`, or all had `ended`, or the group is `unknown`, and why
   * @throws InvalidOptionsError if an option can't be used
   * @throws StoreUnavailableError (NoQuorumError) if surely nothing was changed, UnknownOutcomeError otherwise
   */
  cancelGroup(task: TaskType, group: string, options?: CancelOptions): Promise<GroupCancelled> {
    return this.#tasks.cancelGroup(task, group, options);
  }

  /**
   * Lets a task run again that ended without success, with fresh counts of attempts and crashes. One that waits for its
   * next attempt after a failure runs at once.
   *
   * @param task its name or id
   * @returns whether it is `retried`, or that was `refused`, and why
   * @throws StoreUnavailableError (NoQuorumError) if surely nothing was changed, UnknownOutcomeError otherwise
   */
  retry(task: TaskName | string): Promise<Retried> {
    return this.#tasks.retry(task);
  }

  /**
   * Ends the claim of a program, which works over HTTP: another worker may claim the task at once, and the next call of the
   * program is refused.
   *
   * @param task its name or id
   * @returns whether it is `released`, or that was `refused` because no program has it, and why
   * @throws StoreUnavailableError (NoQuorumError) if surely nothing was changed, UnknownOutcomeError otherwise
   */
  release(task: TaskName | string): Promise<Released> {
    return this.#tasks.release(task);
  }

  /**
   * Handles the tasks of a type on this node, as a method with `@TaskHandler`: from the end of the application's start, or
   * at once after that.
   *
   * @param task the type, or its definition
   * @throws InvalidOptionsError if this node handles the type already, or an option can't be used
   */
  handle<D extends TaskDefinition>(
    task: D,
    handler: TaskFunction<DataOf<D>, ResultOf<D>>,
    options?: HandlerOptions,
  ): void;
  handle<In = unknown>(task: string, handler: TaskFunction<In>, options?: HandlerOptions): void;
  handle(...args: Parameters<Tasks['handlers']['handle']>): void {
    this.#tasks.handlers.handle(...args);
  }

  /**
   * Handles the end of groups of a type on this node, as a method with `@GroupFinishedHandler`.
   *
   * @param task the type of the members, or its definition
   * @throws InvalidOptionsError if this node does so already, or an option can't be used
   */
  onGroupFinished<D extends TaskDefinition>(
    task: D,
    handler: GroupFunction<ResultOf<D>>,
    options?: GroupHandlerOptions,
  ): void;
  onGroupFinished<Out = unknown>(task: string, handler: GroupFunction<Out>, options?: GroupHandlerOptions): void;
  onGroupFinished(...args: Parameters<Tasks['handlers']['onGroupFinished']>): void {
    this.#tasks.handlers.onGroupFinished(...args);
  }

  /**
   * Handles the invalid tasks of this node, as a method with `@InvalidTaskHandler`.
   *
   * @throws InvalidOptionsError if this node has such a handler already
   */
  onInvalid(handler: InvalidTaskFunction): void {
    this.#tasks.handlers.onInvalid(handler);
  }

  /**
   * Runs a handler at the times of a cron expression, once per time in the whole cluster, as a method with
   * `@ClusterCron`: from the end of the application's start, or at once after that.
   *
   * @param name of the schedule in the cluster: 1 to 59 letters, digits, `_`, `.` or `-`
   * @param expression 5 or 6 fields, as for `@Cron` of @nestjs/schedule
   * @param handler gets the planned time
   * @param options mode, time zone (default UTC), missed ticks; and options of the tasks and of their handler
   * @throws InvalidOptionsError listing every fault; also if this node has a schedule of that name
   */
  schedule(name: string, expression: string, handler: ScheduleFunction, options?: ScheduleOptions): void {
    this.#tasks.schedules.add(name, expression, handler, options);
  }

  /**
   * Ends a schedule of this node, such as one that `schedule()` made at run time. A run that goes on may end, and the name is free
   * at once: to change a schedule, end it and make it anew. Other nodes that have it go on: end it on all of them. What the
   * cluster remembers of it is removed a week after the last tick.
   *
   * @param name of the schedule
   * @returns whether this node had it
   */
  unschedule(name: string): boolean {
    return this.#tasks.schedules.remove(name);
  }

  /**
   * The schedules of the whole cluster, by name: expression, mode, next and last planned time, skipped ticks.
   *
   * @throws StoreUnavailableError
   */
  schedules(): Promise<ScheduleView[]> {
    return this.#tasks.schedules.list();
  }

  /**
   * The types that this node handles: how many attempts run, and why it takes no task, if so. As this node knows it: does
   * not ask the store.
   */
  types(): HandledType[] {
    return this.#tasks.handlers.types();
  }

  /**
   * Takes no more tasks of a type on this node, until {@link resumeType} or the end of this process. Running attempts go on,
   * and other nodes are not affected: to pause a type in the whole cluster, pause its semaphore `task:<type>`. Idempotent.
   *
   * @param task the type, or its definition
   * @throws InvalidOptionsError if this node does not handle the type
   */
  pauseType(task: TaskType): void {
    this.#tasks.handlers.pauseType(task);
  }

  /**
   * Takes tasks of a type again after {@link pauseType}. Idempotent.
   *
   * @param task the type, or its definition
   * @throws InvalidOptionsError if this node does not handle the type
   */
  resumeType(task: TaskType): void {
    this.#tasks.handlers.resumeType(task);
  }

  get #tasks(): Tasks {
    return partsOf(this.gatekeeper).tasks;
  }
}
