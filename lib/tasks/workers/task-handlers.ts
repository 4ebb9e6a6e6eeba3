import type { Context } from '../../context/context.js';
import { InvalidOptionsError, show } from '../../decision/index.js';
import {
  type GroupHandlerOptions,
  type HandlerOptions,
  parseGroupHandlerOptions,
  parseHandlerOptions,
} from '../handler-options.js';
import { MOST_BYTES } from '../json.js';
import { AddressedTasks } from '../addressed/addressed-tasks.js';
import type { LivingNodes } from '../addressed/readdressing.js';
import { DueTimer } from '../due/due-timer.js';
import { Sweeping } from '../sweeping.js';
import type { Cancellation, Task } from '../task.js';
import { type DataOf, joinType, type ResultOf, type TaskDefinition, type TaskType, typeOf } from '../task-id.js';
import type { TaskStore } from '../task-store.js';
import { TaskSweep } from '../task-sweep.js';
import { readGroup } from './group-context.js';
import type { HandledType, WorkerState } from './handled-type.js';
import type { HeldTask } from './held-task.js';
import { RunningTasks } from './running-tasks.js';
import { type ReadSubmission, contextOf } from './task-context.js';
import {
  type GroupContext,
  type GroupFunction,
  type InvalidTaskFunction,
  type TaskContext,
  type TaskFunction,
  expectHandler,
  preparationOf,
} from './task-handler.js';
import { TypeLimit } from './type-limit.js';
import { TypeWorker, type WorkerOptions } from './type-worker.js';
import { TypeWorkers } from './type-workers.js';

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
  /** Opens the store. */
  readonly store: () => TaskStore;
  /** Reads a submission of a handler. */
  readonly read: ReadSubmission;
}

/** The handlers of one node: claims the tasks of their types, and sweeps while there are handlers. */
export class TaskHandlers {
  readonly #workers = new TypeWorkers();
  readonly #running = new RunningTasks();
  #sweeping?: Sweeping;
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
      const group = await readGroup(this.#contextOf(held), held.claim.task, this.parts.store());
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
    return this.#workers.find(type)?.isLimitPaused === true;
  }

  /** Makes sure that {@link isLimitPaused} is known. @throws errors of a store that can't be asked */
  async learnLimit(type: string): Promise<void> {
    await this.#workers.find(type)?.learnLimit();
  }

  /** Aborts the attempt at a cancelled task, if it runs on this node. */
  cancel(task: Task): void {
    this.#running.cancel(task);
  }

  /** Begins to work. Handlers that are added later begin at once. */
  start(): void {
    if (this.#closed || this.parts.work === false) return;
    this.#workers.start();
    if (this.#workers.size > 0) this.#look();
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
      await Promise.all([this.#due?.close(), this.#sweeping?.close()]);
    }
  }

  #add(type: string, key: string, parsed: WorkerOptions, handler: (held: HeldTask) => unknown): void {
    const { context, mostBytes = MOST_BYTES } = this.parts;
    const onInvalid = () => this.#onInvalid;
    const store = this.parts.store();
    store.stops.watch(this.#running);
    const limit = new TypeLimit(type, this.parts.directory, context);
    const addressed = this.#addressedTasks();
    const parts = { store, context, mostBytes, onInvalid, limit, addressed };
    this.#workers.add(new TypeWorker(key, handler, parsed, parts));
    if (this.#workers.isRunning) this.#look();
  }

  /** From the first handler on. */
  #look(): void {
    this.#addressed?.start();
    this.sweep();
  }

  #addressedTasks(): AddressedTasks {
    const { context } = this.parts;
    const { timed: storage, hints } = this.parts.store();
    if (this.#addressed) return this.#addressed;
    this.#addressed = new AddressedTasks({ storage, context });
    hints.watchAddressed(this.#addressed);
    return this.#addressed;
  }

  /** If the store can't say it now, the attempt begins. The walk over the members ends it. */
  async #stoppedFor(task: Task): Promise<Cancellation | undefined> {
    const { store, context } = this.parts;
    try {
      return await store().stops.stoppedFor(task);
    } catch (error) {
      context.events.next({ type: 'problem', action: `look whether the group of ${task.id} is stopped`, error });
      return undefined;
    }
  }

  /** Takes part in the sweep from now on, also without a handler. Idempotent. */
  sweep(): void {
    if (this.#closed) return;
    const { context, store, nodes } = this.parts;
    this.#sweeping ??= new Sweeping(new TaskSweep(store(), context, nodes), context);
    this.#sweeping.start();
    this.#due?.start();
  }

  /** Call this when the store is open: this node looks for the tasks that it delays, also without a handler. */
  opened(store: TaskStore): void {
    const { context } = this.parts;
    const sweep = new TaskSweep(store, context);
    const look = (patience: number) => sweep.due(patience);
    this.#due = new DueTimer({ context, look, rank: () => this.#sweeping?.rank });
    store.watchWrites(this.#due.written);
  }

  #contextOf(held: HeldTask): TaskContext {
    return contextOf(held, this.parts.store(), this.parts.read);
  }
}
