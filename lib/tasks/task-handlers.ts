import type { Context } from '../core/context/context.js';
import { InvalidOptionsError, show } from '../core/decision/index.js';
import {
  type GroupHandlerOptions,
  type HandlerOptions,
  parseGroupHandlerOptions,
  parseHandlerOptions,
} from './rules/handler-options.js';
import { MOST_BYTES } from './rules/json.js';
import type { AddressedTasks } from './workers/addressed-tasks.js';
import type { LivingNodes } from './sweep/readdressing.js';
import type { DueTimer } from './sweep/due-timer.js';
import type { SweepRanks } from './sweep/sweep-ranks.js';
import { type TaskCode, taskCode } from './task-code.js';
import type { TaskStore } from './records/task-store.js';
import type { Task, Incarnation } from './rules/task.js';
import {
  type DataOf,
  joinType,
  type ResultOf,
  type TaskDefinition,
  type TaskType,
  typeOf,
  groupType,
  typeFaults,
} from './rules/task-id.js';
import type { WorkerOptions, TypeWorker } from './workers/type-worker.js';
import type { HeldTask } from './workers/held-task.js';
import type { ReadSubmission } from './workers/handler-contexts.js';
import {
  type GroupContext,
  type GroupFunction,
  type InvalidTaskFunction,
  type TaskContext,
  type TaskFunction,
  expectHandler,
  preparationOf,
} from './workers/task-handler.js';
import type { TypeLimit } from './admission/type-limit.js';
import { TaskCancelledError } from './rules/tasks.errors.js';
import type { Cancellation } from './rules/task-parts.js';
import type { HandledType, WorkerState } from './rules/views.js';

export interface HandlersParts {
  readonly context: Context;
  readonly directory: ConstructorParameters<typeof TypeLimit>[1];
  /** ms for which a shutdown waits for handlers. */
  readonly grace: number;
  /** Bytes of data or a result as JSON. */
  readonly mostBytes?: number;
  /** False for a node that takes no tasks and plans no ticks, whatever its code handles. Default true. */
  readonly work?: boolean;
  /** Absent if the nodes don't publish themselves. */
  readonly nodes?: LivingNodes | undefined;
  /** Opens the tasks now or soon: {@link TaskHandlers.opened} is called. */
  readonly open: () => void;
  /** Reads a submission of a handler. */
  readonly read: ReadSubmission;
}

/** The handlers of one node: claims the tasks of their types, and sweeps while there are handlers. */
export class TaskHandlers {
  readonly #workers = new TypeWorkers();
  readonly #running = new RunningTasks();
  #store?: TaskStore;
  #sweepRanks?: SweepRanks;
  #due?: DueTimer;
  #addressed?: AddressedTasks;
  #onInvalid?: InvalidTaskFunction;
  #closed?: Promise<void>;

  constructor(private readonly parts: HandlersParts) {}

  /**
   * Handles the tasks of a type on this node.
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
  handle(task: TaskType, handler: TaskFunction<never>, options?: HandlerOptions): void {
    const { type } = typeOf(task);
    this.#workers.expectNew(type, type);
    expectHandler(`the handler of tasks ${show(type)}`, handler);
    const prepare = preparationOf(handler);
    const work = async (held: HeldTask) => {
      const stopped = await this.#stoppedFor(held.claim.task);
      if (stopped) await held.cancel(stopped);
      const call = await prepare(this.#contextOf(held) as TaskContext<never>);
      held.expectOwned();
      return call();
    };
    const parsed = parseHandlerOptions(type, options, this.parts.context.timing.clockTolerance);
    this.#add(type, type, parsed, (held) => this.#running.run(held, () => work(held)));
  }

  /**
   * Handles the end of groups of a type on this node.
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
  onGroupFinished(task: TaskType, handler: GroupFunction<never>, options?: GroupHandlerOptions): void {
    const { type } = typeOf(task);
    this.#workers.expectNew(type, joinType(type));
    expectHandler(`the handler of groups ${show(type)}`, handler);
    const prepare = preparationOf(handler);
    const finish = async (held: HeldTask) => {
      const group = await this.#code.readGroup(this.#contextOf(held), held.claim.task, this.#store!);
      if (!group) return undefined;
      const call = await prepare(group as GroupContext<never>);
      held.expectOwned();
      return call();
    };
    const parsed = parseGroupHandlerOptions(type, options, this.parts.context.timing.clockTolerance);
    this.#add(type, joinType(type), parsed, (held) => this.#running.run(held, () => finish(held)));
  }

  /** Handles the tasks of a type no longer on this node. Its running handlers go on. Idempotent. */
  remove(type: string): void {
    this.#workers.remove(type);
  }

  /** Called on this node with each of its tasks that its handler found invalid. */
  onInvalid(handler: InvalidTaskFunction): void {
    expectHandler('the handler of invalid tasks', handler);
    if (this.#onInvalid) throw new InvalidOptionsError('the handler of invalid tasks', ['this node has one already']);
    this.#onInvalid = handler;
  }

  /** The types that this node handles, with their state as this node knows it. Does not ask the store. */
  types(): HandledType[] {
    return this.parts.work === false ? [] : this.#workers.list();
  }

  /**
   * Takes no more tasks of a type on this node. The running ones go on. Idempotent.
   *
   * @throws InvalidOptionsError if this node does not handle the type
   */
  pauseType(task: TaskType): void {
    for (const worker of this.#workers.of(typeOf(task).type)) worker.pause();
  }

  /** Takes tasks of a type again after {@link pauseType}. Idempotent. @throws InvalidOptionsError as that */
  resumeType(task: TaskType): void {
    for (const worker of this.#workers.of(typeOf(task).type)) worker.resume();
  }

  /** State of this node's work on the tasks of a type; undefined if it does not handle them. */
  stateOf(type: string): WorkerState | undefined {
    if (this.parts.work === false) return undefined;
    return this.#workers.find(type)?.state;
  }

  /** Whether the tasks of a type are paused for all nodes, as this node knows. */
  isLimitPaused(type: string): boolean {
    return this.#workers.find(type)?.worker?.isLimitPaused === true;
  }

  /** Makes sure that {@link isLimitPaused} is known. @throws errors of a store that can't be asked */
  async learnLimit(type: string): Promise<void> {
    await this.#workers.find(type)?.worker?.learnLimit();
  }

  /** Aborts the attempt at a cancelled task, if it runs on this node. */
  cancel(task: Task): void {
    this.#running.cancel(task);
  }

  /** Begins to work. Handlers that are added later begin at once. */
  start(): void {
    if (this.#closed || this.parts.work === false) return;
    this.#workers.start();
    if (this.#store && this.#workers.size > 0) this.#look();
  }

  /** Takes no more tasks, and waits for the running ones. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    try {
      const looking = this.#addressed?.close();
      await this.#workers.close(this.parts.grace);
      await looking;
    } finally {
      await Promise.all([this.#due?.close(), this.#sweepRanks?.close()]);
    }
  }

  #add(type: string, key: string, parsed: WorkerOptions, work: (held: HeldTask) => unknown): void {
    this.parts.open();
    const handler = new OwnHandler(key, type, parsed, work);
    this.#workers.add(handler);
    if (this.#store) this.#workFor(handler, this.#store);
  }

  /** Takes tasks for a handler, from {@link start} on. */
  #workFor(handler: OwnHandler, store: TaskStore): void {
    const code = this.#code;
    const { context, mostBytes = MOST_BYTES } = this.parts;
    const onInvalid = () => this.#onInvalid;
    store.stops.watch(this.#running);
    const limit = new code.TypeLimit(handler.limitedType, this.parts.directory, context);
    const addressed = this.#addressedTasks();
    const parts = { store, context, mostBytes, onInvalid, limit, addressed };
    handler.workBy(new code.TypeWorker(handler.type, handler.work, handler.options, parts));
    if (!this.#workers.isRunning) return;
    handler.worker!.start();
    this.#look();
  }

  /** From the first handler on. */
  #look(): void {
    this.#addressed?.start();
    this.sweep();
  }

  #addressedTasks(): AddressedTasks {
    const { context } = this.parts;
    if (this.#addressed) return this.#addressed;
    const { paced: storage, hints } = this.#store!;
    this.#addressed = new this.#code.AddressedTasks({ storage, context });
    hints.watchAddressed(this.#addressed);
    return this.#addressed;
  }

  /** If the store can't say it now, the attempt begins. The walk over the members ends it. */
  async #stoppedFor(task: Task): Promise<Cancellation | undefined> {
    try {
      return await this.#store!.stops.stoppedFor(task);
    } catch (error) {
      this.parts.context.events.next({
        type: 'problem',
        action: `look whether the group of ${task.id} is stopped`,
        error,
      });
      return undefined;
    }
  }

  /** Takes part in the sweep from now on, also without a handler. Call it when the tasks are open. Idempotent. */
  sweep(): void {
    if (this.#closed) return;
    const { context, nodes } = this.parts;
    const code = this.#code;
    this.#sweepRanks ??= new code.SweepRanks(new code.TaskSweep(this.#store!, context, nodes), context);
    this.#sweepRanks.start();
    this.#due?.start();
  }

  /** Call this when the tasks are open: this node looks for the tasks that it delays, also without a handler. */
  opened(store: TaskStore): void {
    const { context } = this.parts;
    this.#store = store;
    const sweep = new this.#code.TaskSweep(store, context);
    const look = (patience: number) => sweep.due(patience);
    this.#due = new this.#code.DueTimer({ context, look, rank: () => this.#sweepRanks?.rank });
    store.watchWrites(this.#due.written);
    if (!this.#closed) for (const handler of this.#workers.all) this.#workFor(handler, store);
  }

  #contextOf(held: HeldTask): TaskContext {
    return this.#code.contextOf(held, this.#store!, this.parts.read);
  }

  get #code(): TaskCode {
    return taskCode.loaded!;
  }
}

/** The tasks whose handlers run on this node, so that a cancel from this node aborts their signals at once. */
class RunningTasks {
  readonly #held = new Map<string, HeldTask>();

  async run<T>(held: HeldTask, handler: () => T | Promise<T>): Promise<T> {
    const { id } = held.claim.task;
    this.#held.set(id, held);
    try {
      return await handler();
    } finally {
      // A handler whose lease ended may still run while the node works on the next attempt.
      if (this.#held.get(id) === held) this.#held.delete(id);
    }
  }

  /** Numbers of the members of this incarnation that run on this node. */
  membersOf(type: string, { group, incarnation }: Incarnation): number[] {
    const tasks = [...this.#held.values()].map(({ claim }) => claim.task).filter((task) => task.type === type);
    const members = tasks.flatMap(({ member }) => member ?? []);
    return members
      .filter((each) => each.group === group && each.incarnation === incarnation)
      .map(({ number }) => number);
  }

  /** Aborts the signal of the attempt that was cancelled, if it is on this node. */
  cancel({ id, token, cancel }: Task): void {
    const held = this.#held.get(id);
    if (cancel && held?.claim.task.token === token) held.interrupt(new TaskCancelledError(id, cancel));
  }
}

/** A handler of this node. It gets its worker when the code that works on tasks is loaded. */
class OwnHandler {
  #worker?: TypeWorker;
  #isPaused = false;

  constructor(
    /** The type in the records of its tasks. */
    readonly type: string,
    /** The type whose limit counts. */
    readonly limitedType: string,
    readonly options: WorkerOptions,
    readonly work: (held: HeldTask) => unknown,
  ) {}

  get worker(): TypeWorker | undefined {
    return this.#worker;
  }

  workBy(worker: TypeWorker): void {
    this.#worker = worker;
    if (this.#isPaused) worker.pause();
  }

  pause(): void {
    this.#isPaused = true;
    this.#worker?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#worker?.resume();
  }

  get state(): WorkerState {
    const { concurrency } = this.options;
    const obstacle = this.#isPaused ? 'paused-here' : undefined;
    return this.#worker?.state ?? { concurrency, running: 0, ...(obstacle && { obstacle }) };
  }
}

/** The handlers of this node and their workers, by the type in the records of their tasks. */
class TypeWorkers {
  readonly #handlers = new Map<string, OwnHandler>();
  /** Those that take no more tasks, until their last handlers have ended. */
  readonly #retired = new Set<TypeWorker>();
  #isStarted = false;
  #isClosed = false;

  get size(): number {
    return this.#handlers.size;
  }

  get all(): readonly OwnHandler[] {
    return [...this.#handlers.values()];
  }

  find(type: string): OwnHandler | undefined {
    return this.#handlers.get(type);
  }

  /** @param key type in the records @throws InvalidOptionsError if the type is invalid, or has a worker already */
  expectNew(type: string, key: string): void {
    const faults = typeFaults(type);
    if (this.find(key)) faults.push(`type: this node has a handler for ${show(type)} already`);
    if (faults.length > 0) throw new InvalidOptionsError('a handler of tasks', faults);
  }

  add(handler: OwnHandler): void {
    this.#handlers.set(handler.type, handler);
  }

  /** Takes no more tasks of a type in the records. The type is free for another handler at once. */
  remove(key: string): void {
    const worker = this.#handlers.get(key)?.worker;
    this.#handlers.delete(key);
    if (!worker) return;
    this.#retired.add(worker);
    void worker.retire().then(() => this.#retired.delete(worker));
  }

  get isRunning(): boolean {
    return this.#isStarted && !this.#isClosed;
  }

  list(): HandledType[] {
    return this.all.map(({ type, state }) => ({
      type: groupType(type),
      handles: type === groupType(type) ? 'tasks' : 'groups',
      ...state,
    }));
  }

  /** The workers for the tasks and for the groups of a type. @throws InvalidOptionsError if there is none */
  of(type: string): OwnHandler[] {
    const isType = typeFaults(type).length === 0;
    const found = isType ? [type, joinType(type)].flatMap((key) => this.#handlers.get(key) ?? []) : [];
    if (found.length > 0) return found;
    throw new InvalidOptionsError(`the type of tasks ${show(type)}`, ['this node has no handler for it']);
  }

  start(): void {
    this.#isStarted = true;
    for (const { worker } of this.all) worker?.start();
  }

  /** @param grace ms for which it waits for handlers */
  async close(grace: number): Promise<void> {
    this.#isClosed = true;
    const workers = [...this.all.map(({ worker }) => worker), ...this.#retired];
    await Promise.all(workers.map((worker) => worker?.close(grace)));
  }
}
