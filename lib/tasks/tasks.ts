import { InvalidOptionsError, show } from '../decision/index.js';
import type { Context } from '../context/context.js';
import { type CancelOptions, parseCancelOptions } from './by-hand/cancel-options.js';
import { type Cancelled, cancelTask } from './by-hand/cancel.js';
import { type TaskExplanation, explain } from './by-hand/explanation.js';
import { type Retried, retryTask } from './by-hand/retry.js';
import { type TaskView, viewOf } from './by-hand/task-view.js';
import { type HandlerOptions, parseHandlerOptions } from './handler-options.js';
import { MOST_BYTES, readJson } from './json.js';
import type { NewTask, Submitted } from './submission.js';
import { type SubmitArguments, type SubmitRequest, submitMany } from './submit-many.js';
import { type SubmitOptions, parseSubmitOptions } from './submit-options.js';
import { Sweeping } from './sweeping.js';
import { type DataOf, type ResultOf, type TaskDefinition, type TaskName, type TaskType } from './task-id.js';
import { typeOf } from './task-id.js';
import { TaskStore, groupType, joinType } from './task-store.js';
import { TaskSweep } from './task-sweep.js';
import { readGroup } from './workers/group-context.js';
import type { HeldTask } from './workers/held-task.js';
import { RunningTasks } from './workers/running-tasks.js';
import type {
  GroupContext,
  GroupFunction,
  InvalidTaskFunction,
  TaskContext,
  TaskFunction,
} from './workers/task-handler.js';
import type { HandledType } from './workers/handled-type.js';
import { TypeLimit } from './workers/type-limit.js';
import { contextOf } from './workers/task-context.js';
import { TypeWorker } from './workers/type-worker.js';
import { TypeWorkers } from './workers/type-workers.js';

export interface TasksParts {
  readonly context: Context;
  readonly directory: ConstructorParameters<typeof TypeLimit>[1];
  /** ms for which a shutdown waits for handlers. */
  readonly grace: number;
  /** Bytes of data or a result as JSON. */
  readonly mostBytes?: number;
}

/** The distributed tasks of one node: submits them, and works on those whose type it handles. */
export class Tasks {
  readonly #workers = new TypeWorkers();
  readonly #running = new RunningTasks();
  #open?: { readonly store: TaskStore; readonly sweeping: Sweeping };
  #onInvalid?: InvalidTaskFunction;
  #closed?: Promise<void>;

  constructor(private readonly parts: TasksParts) {}

  /**
   * Submits a task. It runs at least once on a node that handles its type, or ends as a dead letter. Idempotent: after an
   * error, submit it again.
   *
   * @param name made with `single()` or `grouped()`
   * @param data any JSON value, of the type of the name's definition
   * @param options override those of the definition
   * @throws InvalidOptionsError if the data or an option can't be used, or members of a group disagree
   * @throws StoreUnavailableError (NoQuorumError) if surely nothing was submitted, UnknownOutcomeError otherwise
   */
  async submit<In>(name: TaskName<In>, ...[data, options]: SubmitArguments<In>): Promise<Submitted> {
    const { task, dedup } = await this.#read(name, data, options);
    return this.#opened.store.submit(task, dedup);
  }

  /** @throws InvalidOptionsError */
  async #read(name: TaskName, data: unknown, options: SubmitOptions | undefined) {
    const { id, type, member, defaults } = expectName(name);
    const { runAt, dedup, priority, limits } = parseSubmitOptions(id, options, defaults);
    const read = readJson(data, this.parts.mostBytes ?? MOST_BYTES);
    if ('fault' in read) throw new InvalidOptionsError(`task ${show(id)}`, [`data: ${read.fault}`]);
    const at = runAt === undefined ? undefined : await this.#timeOf(runAt);
    const task: NewTask = {
      id,
      type,
      priority,
      limits,
      ...(read.value !== undefined && { data: read.value }),
      ...(member && { member }),
      ...(at !== undefined && { runAt: at }),
    };
    return { task, dedup };
  }

  /**
   * Submits a list of tasks, 64 at the same time.
   *
   * @param tasks a list, or a generator, which is asked for the next task when there is room for it
   * @returns the answers in the order of the list
   * @throws SubmitManyError after the first error. It says which tasks were submitted
   */
  submitMany<In>(tasks: Iterable<SubmitRequest<In>> | AsyncIterable<SubmitRequest<In>>): Promise<Submitted[]> {
    const submit = async ({ name, data, options }: SubmitRequest) => this.submit(name, data, options);
    return submitMany(tasks, submit, () => this.#opened.store.slices.turn());
  }

  /**
   * The task as it stands in the store.
   *
   * @param task its name or id
   * @returns undefined if there is none, or none any more
   * @throws StoreUnavailableError
   */
  async find(task: TaskName | string): Promise<TaskView | undefined> {
    const found = await this.#opened.store.find(idOf(task));
    return found && viewOf(found);
  }

  /**
   * Explains why a task does not run, or where it runs. Changes nothing.
   *
   * @param task its name or id
   * @throws StoreUnavailableError
   */
  async explain(task: TaskName | string): Promise<TaskExplanation> {
    const { store } = this.#opened;
    const id = idOf(task);
    const found = await store.find(id);
    const of = found?.ending && (found.member ?? found.join);
    const root = of && (await store.groups.find(groupType(found.type), of));
    const { instance } = this.parts.context.node;
    return explain(id, found, root, { instance, worker: (type) => this.#workers.find(type)?.state });
  }

  /**
   * Cancels a task. One that waits ends at once. The handler of one that runs learns it by its signal, and its result is
   * refused. Idempotent: after an error, cancel it again.
   *
   * @param task its name or id
   * @param options `by`: the author, default the name of this node; `reason`: for the handler and for people
   * @throws InvalidOptionsError if an option can't be used
   * @throws StoreUnavailableError if surely nothing was changed, UnknownOutcomeError otherwise
   */
  async cancel(task: TaskName | string, options?: CancelOptions): Promise<Cancelled> {
    const { context } = this.parts;
    const id = idOf(task);
    const author = parseCancelOptions(id, options, context.node);
    const cancelled = await cancelTask(id, author, this.#opened.store, context);
    if (cancelled.task) this.#running.cancel(cancelled.task);
    return cancelled.answer;
  }

  /**
   * Lets a task run again by hand that ended without success, with fresh counts of attempts and crashes. A task that waits
   * for its next attempt after a failure runs at once.
   *
   * @param task its name or id
   * @throws StoreUnavailableError if surely nothing was changed, UnknownOutcomeError otherwise
   */
  async retry(task: TaskName | string): Promise<Retried> {
    return retryTask(idOf(task), this.#opened.store);
  }

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
    this.#add(type, type, options, (held) =>
      this.#running.run(held, () => handler(this.#contextOf(held) as TaskContext<never>)),
    );
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
    options?: HandlerOptions,
  ): void;
  onGroupFinished<Out = unknown>(task: string, handler: GroupFunction<Out>, options?: HandlerOptions): void;
  onGroupFinished(task: TaskType, handler: GroupFunction<never>, options?: HandlerOptions): void {
    const { type } = typeOf(task);
    const finish = async (held: HeldTask) => {
      const { store } = this.#opened;
      // A write of its creation may have been applied late, after the group was closed.
      if (await store.isStaleJoin(held.claim.task)) return undefined;
      const group = await readGroup(this.#contextOf(held), held.claim.task, store);
      held.signal.throwIfAborted();
      return handler(group as GroupContext<never>);
    };
    this.#add(type, joinType(type), options, (held) => this.#running.run(held, () => finish(held)));
  }

  /** Called on this node with each of its tasks that its handler found invalid. */
  onInvalid(handler: InvalidTaskFunction): void {
    if (this.#onInvalid) throw new InvalidOptionsError('the handler of invalid tasks', ['this node has one already']);
    this.#onInvalid = handler;
  }

  /** The types that this node handles, with their state as this node knows it. Does not ask the store. */
  types(): HandledType[] {
    return this.#workers.list();
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

  /** Begins to work. Handlers that are added later begin at once. */
  start(): void {
    if (this.#closed) return;
    this.#workers.start();
    if (this.#workers.size > 0) this.#opened.sweeping.start();
  }

  /** Takes no more tasks, and waits for the running ones. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    try {
      await this.#workers.close(this.parts.grace);
    } finally {
      await this.#open?.sweeping.close();
    }
  }

  #add(type: string, key: string, options: HandlerOptions | undefined, handler: (held: HeldTask) => unknown): void {
    this.#workers.expectNew(type, key);
    const { context, mostBytes = MOST_BYTES } = this.parts;
    const parsed = parseHandlerOptions(type, options, context.timing.clockTolerance);
    const onInvalid = () => this.#onInvalid;
    const { store } = this.#opened;
    const limit = new TypeLimit(type, this.parts.directory, context);
    this.#workers.add(new TypeWorker(key, handler, parsed, { store, context, mostBytes, onInvalid, limit }));
    if (this.#workers.isRunning) this.#opened.sweeping.start();
  }

  #contextOf(held: HeldTask): TaskContext {
    return contextOf(held, this.#opened.store, (name, data, options) => this.#read(name, data, options));
  }

  /** A delay counts by cluster time. */
  async #timeOf(runAt: Date | number): Promise<number> {
    if (runAt instanceof Date) return runAt.getTime();
    return (await this.#opened.store.stamp()).now + runAt;
  }

  /** Opened with the first use, so that an application without tasks makes no maps and queues. */
  get #opened() {
    this.#open ??= this.#openStore();
    return this.#open;
  }

  #openStore() {
    const { context } = this.parts;
    const storage = context.store.tasks;
    if (!storage) {
      throw new InvalidOptionsError('tasks', ['the store keeps no tasks: use hazelcast({...}) or memory()']);
    }
    const store = new TaskStore(storage, context);
    return { store, sweeping: new Sweeping(new TaskSweep(store, context), context) };
  }
}

function idOf(task: TaskName | string): string {
  return typeof task === 'string' ? task : expectName(task).id;
}

/** Callers without types may give anything. */
function expectName(name: TaskName): TaskName {
  if (typeof (name as Partial<TaskName> | undefined)?.id === 'string') return name;
  throw new InvalidOptionsError('a task', [`name: ${show(name)} is no name: make it with single() or grouped()`]);
}
