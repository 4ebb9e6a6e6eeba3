import { InvalidOptionsError, show } from '../core/decision/index.js';
import { afterWrite } from '../core/store/after-write.js';
import type { CancelOptions } from './records/cancel.js';
import type { TaskExplanation } from './by-hand/explanation.js';
import type { TaskPage, TaskQuery, WaitingTypes } from './by-hand/task-list.js';
import type { TaskView } from './rules/views.js';
import type { ExternalTasks } from './external/external-tasks.js';
import { type DistributeOptions, addressedTo } from './distribute.js';
import type { Cancelled, GroupCancelled, Released, Retried, Submitted } from './rules/answers.js';
import { SubmissionReader, expectName } from './submission-reader.js';
import type { SubmitOptions } from './rules/submit-options.js';
import {
  type SubmitArguments,
  type SubmitRequest,
  expectNoTransaction,
  expectOnlyList,
  submitMany,
} from './records/submit-many.js';
import { NodeWork } from './overview/node-work.js';
import type { SubTaskPage } from './overview/sub-task-list.js';
import type { TaskGroups } from './overview/task-groups.js';
import { groupType, type TaskName, type TaskType, nameFaults } from './rules/task-id.js';
import { Schedules } from './task-schedules.js';
import { type TaskCode, taskCode } from './task-code.js';
import type { TaskStore } from './records/task-store.js';
import { type HandlersParts, TaskHandlers } from './task-handlers.js';

interface TasksParts extends Omit<HandlersParts, 'open' | 'read'> {
  /** Bytes of all tasks that have ended; absent: no limit. */
  readonly maxRetainedBytes?: number | undefined;
}

/** The tasks in the store, for this node. */
interface OpenTasks {
  /** Changes of tasks. */
  readonly store: TaskStore;
  /** Tasks for programs that are no nodes. */
  readonly external: ExternalTasks;
  /** The groups of tasks; for operators. */
  readonly groups: TaskGroups;
}

/** Types that code names which are remembered. Code that makes names up must not fill the memory. */
const MOST_NAMED = 1000;

/** The distributed tasks of one node: submits them, and works on those whose type it handles. */
export class Tasks {
  /** The handlers of this node. */
  readonly handlers: TaskHandlers;
  /** The schedules of this node. */
  readonly schedules: Schedules;
  /** The work of this node, for operators. */
  readonly work: NodeWork;
  readonly #reader: SubmissionReader;
  /** Types of which code of this node has submitted tasks. */
  readonly #named = new Set<string>();
  #opened?: OpenTasks & { readonly code: TaskCode };
  /** Since a handler was added before the code was loaded. */
  #opening?: Promise<unknown>;
  #isClosed = false;

  constructor(private readonly parts: TasksParts) {
    this.#reader = new SubmissionReader({ ...parts, now: async () => (await (await this.open()).store.stamp()).now });
    this.handlers = new TaskHandlers({
      ...parts,
      open: () => this.#openSoon(),
      read: (name, data, options, parent) => {
        this.#noteName(name);
        return this.#reader.read(name, data, options, parent);
      },
    });
    this.work = new NodeWork(parts.context);
    const { context } = parts;
    this.schedules = new Schedules({ context, handlers: this.handlers, open: () => this.open() });
  }

  /**
   * Begins to work, unless the node only submits. Handlers and schedules that are added later begin at once. Waits for the
   * code of tasks, not for the store.
   */
  async start(): Promise<void> {
    if (this.parts.work === false) return;
    this.handlers.start();
    this.schedules.start();
    if (this.handlers.types().length > 0) await this.open();
  }

  /**
   * Loads the code that works on tasks, and opens the store: with the first use, so that an application without tasks loads
   * nothing for them, and makes no maps and queues.
   */
  open(): Promise<OpenTasks> {
    return this.#open();
  }

  /** Submits no more ticks, takes and gives no more tasks, and waits for the running ones. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    // At the same time: a look at a schedule may wait for the store.
    await Promise.all([this.schedules.close(), this.handlers.close(), this.#opened?.external.close()]);
    await this.#opened?.store.retained?.close();
    // The application waits for an import that is under way. If it failed, a `problem` event has told so.
    await this.#opening?.catch(() => undefined);
  }

  /**
   * Submits a task. It runs at least once on a node that handles its type, or ends as a dead letter. Idempotent: after an
   * error, submit it again.
   *
   * @param name made with `single()` or `grouped()`
   * @param rest the data: any JSON value, of the type of the name's definition; then options, which override those of the
   *   definition
   * @throws InvalidOptionsError if the data or an option can't be used, or members of a group disagree
   * @throws StoreUnavailableError (NoQuorumError) if surely nothing was submitted, UnknownOutcomeError otherwise; with `tx`
   *   roll back after each error
   */
  submit<In>(name: TaskName<In>, ...[data, options]: SubmitArguments<In>): Promise<Submitted> {
    this.#noteName(name);
    return this.#submit(name, data, options);
  }

  /**
   * {@link submit} for a program, which may name any type.
   *
   * @param program name of its token
   * @throws TooManyTypesError, and as {@link submit}
   */
  async submitFor(program: string, name: TaskName, data: unknown, options: SubmitOptions): Promise<Submitted> {
    const { external } = await this.open();
    external.expectTypes(program, [name.type]);
    return this.#submit(name, data, options);
  }

  /** Whether code of this node handles tasks of this type, or has submitted some. */
  isOfCode(type: string): boolean {
    return this.#named.has(type) || this.handlers.types().some((handled) => handled.type === type);
  }

  /** Types of which code of this node has submitted tasks, at most 1000. */
  get submittedTypes(): readonly string[] {
    return [...this.#named];
  }

  async #submit(name: TaskName, data: unknown, options: SubmitOptions | undefined): Promise<Submitted> {
    const { task, dedup, unique, tx } = await this.#reader.read(name, data, options);
    const { code, store } = this.#opened ?? (await this.#open());
    if (!unique && tx === undefined) {
      return code.observedSubmit(this.parts.context, task, (traced) => store.submit(traced, dedup));
    }
    const { member: _none, ...alone } = task;
    if (!unique) {
      return code.observedSubmit(this.parts.context, alone, (traced) => code.submitWithin(tx, store, traced, dedup));
    }
    return code.observedSubmit(this.parts.context, alone, async (traced) => {
      const submitted = await code.submitUnique(store, traced, dedup, unique);
      if (submitted.task) this.handlers.cancel(submitted.task);
      return submitted.answer;
    });
  }

  /**
   * Submits a task that runs when all tasks of the same queue have ended that were submitted before. Idempotent, as
   * {@link submit}.
   *
   * @param queue name of the queue: 1 to 200 characters
   * @param name made with `single()`
   * @throws InvalidOptionsError as {@link submit}, and for a member of a group, and with `after`
   * @throws StoreUnavailableError, UnknownOutcomeError
   */
  async submitSerial<In>(
    queue: string,
    name: TaskName<In>,
    ...[data, options]: SubmitArguments<In>
  ): Promise<Submitted> {
    this.#noteName(name);
    const { task, dedup, unique, tx } = await this.#reader.read(name, data, options);
    const faults = nameFaults('queue', queue);
    if (tx !== undefined)
      faults.push('tx: a task of a queue needs its place there, which a transaction would hold back');
    if (unique) faults.push('unique: a task of a queue keeps its place');
    if (task.member) faults.push('name: a member of a group can not be in a queue: use single()');
    if (task.awaits) faults.push('after: a task of a queue waits for the one before it only');
    if (faults.length > 0) throw new InvalidOptionsError(`task ${show(task.id)} of a queue`, faults);
    const { code, store } = await this.#open();
    const submitted = await code.observedSubmit(this.parts.context, task, (traced) =>
      store.submit({ ...traced, queue }, dedup),
    );
    // It is in the store, with its place or without.
    await afterWrite(() => store.awaiting.ensurePlaced(task.id));
    return submitted;
  }

  /**
   * Submits a list of tasks, 64 at the same time.
   *
   * @param tasks a list, or a generator, which is asked for the next task when there is room for it
   * @returns the answers in the order of the list
   * @throws InvalidOptionsError if options stand beside the list
   * @throws SubmitManyError after the first error. It says which tasks were submitted
   */
  submitMany<In>(tasks: Iterable<SubmitRequest<In>> | AsyncIterable<SubmitRequest<In>>): Promise<Submitted[]>;
  async submitMany(
    tasks: Iterable<SubmitRequest> | AsyncIterable<SubmitRequest>,
    ...rest: readonly unknown[]
  ): Promise<Submitted[]> {
    expectOnlyList(rest);
    const submit = async (task: SubmitRequest) => {
      expectNoTransaction(task);
      // Callers without types may give anything.
      return this.submit(task?.name, task?.data, task?.options);
    };
    return submitMany(tasks, submit, () => this.#opened?.store.slices.turn());
  }

  /**
   * Submits a list of tasks and addresses them to nodes in turn. A task moves to another living node that handles its type
   * when its node is gone. Idempotent: a task that is known keeps its address.
   *
   * @param tasks as for {@link submitMany}, without the option `to`
   * @param options `over`: the nodes, such as the participants of the cluster
   * @throws InvalidOptionsError if an option can't be used, or nodes don't publish themselves
   * @throws SubmitManyError after the first error of a submission
   */
  async distribute<In>(
    tasks: Iterable<SubmitRequest<In>> | AsyncIterable<SubmitRequest<In>>,
    options: DistributeOptions,
  ): Promise<Submitted[]> {
    return this.submitMany(addressedTo(tasks, options));
  }

  /**
   * The task as it stands in the store.
   *
   * @param task its name or id
   * @returns undefined if there is none, or none any more
   * @throws StoreUnavailableError
   */
  async find(task: TaskName | string): Promise<TaskView | undefined> {
    const { code, store } = await this.#open();
    const found = await store.find(idOf(task));
    return found && code.viewOf(found);
  }

  /**
   * Explains why a task does not run, or where it runs. Changes nothing.
   *
   * @param task its name or id
   * @throws StoreUnavailableError
   */
  async explain(task: TaskName | string): Promise<TaskExplanation> {
    const { code, store } = await this.#open();
    const id = idOf(task);
    const found = await store.find(id);
    const of = found?.ending && (found.member ?? found.join);
    const root = of && (await store.groups.find(groupType(found.type), of));
    const { instance } = this.parts.context.node;
    const skipped = found ? undefined : await this.schedules.skippedRun(id);
    if (skipped) return code.skippedTick(id, skipped.former);
    const living = found?.to && found.state === 'waiting' ? await this.parts.nodes?.() : undefined;
    const empty = found?.state === 'blocked' ? await store.awaiting.emptyGroups(found) : undefined;
    return code.explain(id, found, root, { instance, worker: (type) => this.handlers.stateOf(type), living, empty });
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
    const { code, store } = await this.#open();
    const author = code.parseCancelOptions(id, options, context.node);
    const cancelled = await code.cancelTask(id, author, store, context);
    if (cancelled.task) this.handlers.cancel(cancelled.task);
    return cancelled.answer;
  }

  /**
   * Cancels all tasks of a group that have not ended, also those that are submitted later. Then the group's handler runs.
   * Idempotent: after an error, call it again.
   *
   * @param task type of the members, or its definition
   * @param group name of the group
   * @param options as for {@link cancel}
   * @throws InvalidOptionsError if an option can't be used
   * @throws StoreUnavailableError if surely nothing was changed, UnknownOutcomeError otherwise
   */
  async cancelGroup(task: TaskType, group: string, options?: CancelOptions): Promise<GroupCancelled> {
    const { code, store } = await this.#open();
    return code.cancelGroup(task, group, options, store, this.parts.context.node);
  }

  /**
   * Lets a task run again by hand that ended without success, with fresh counts of attempts and crashes. A task that waits
   * for its next attempt after a failure runs at once.
   *
   * @param task its name or id
   * @throws StoreUnavailableError if surely nothing was changed, UnknownOutcomeError otherwise
   */
  async retry(task: TaskName | string): Promise<Retried> {
    const id = idOf(task);
    const { code, store } = await this.#open();
    return code.retryTask(id, store);
  }

  /**
   * Ends the claim of a program, which works over HTTP. The task waits again, and the next call of the program is refused.
   *
   * @param task its name or id
   * @throws StoreUnavailableError if surely nothing was changed, UnknownOutcomeError otherwise
   */
  async release(task: TaskName | string): Promise<Released> {
    const id = idOf(task);
    const { code, store } = await this.#open();
    return code.releaseTask(id, store);
  }

  /** A page of the tasks of a state, without their data; for operators. @throws StoreUnavailableError, InvalidOptionsError */
  async list(query: TaskQuery): Promise<TaskPage> {
    const { code, store } = await this.#open();
    return code.listTasks(store, query);
  }

  /** A page of the sub-tasks of a task, from 0; for operators. @throws StoreUnavailableError */
  async subTasks(id: string, page: number): Promise<SubTaskPage | undefined> {
    const { code, store } = await this.#open();
    return code.subTasksOf(store, id, page);
  }

  /** The result of {@link open}; undefined until this node uses tasks. */
  get opened(): OpenTasks | undefined {
    return this.#opened;
  }

  /** The types of which tasks wait, at most 100; for operators. @throws StoreUnavailableError */
  async waitingTypes(isWanted?: (type: string) => boolean): Promise<WaitingTypes> {
    const { code, store } = await this.#open();
    return code.waitingTypes(store, isWanted);
  }

  /** Callers without types may give anything: that is refused later. */
  #noteName(name: Partial<TaskName> | undefined): void {
    const type = name?.type;
    if (typeof type === 'string' && this.#named.size < MOST_NAMED) this.#named.add(type);
  }

  /** Opens the tasks at once if the code is loaded. */
  #openSoon(): void {
    if (taskCode.loaded) return void this.#openWith(taskCode.loaded);
    if (this.#opening) return;
    this.#opening = this.open();
    this.#opening.catch((error: unknown) => {
      this.#opening = undefined;
      this.parts.context.events.next({ type: 'problem', action: 'load the code of tasks', error });
    });
  }

  async #open() {
    return this.#opened ?? this.#openWith(await taskCode.load());
  }

  #openWith(code: TaskCode) {
    if (this.#opened) return this.#opened;
    const { context, maxRetainedBytes } = this.parts;
    const store = new code.TaskStore(context, maxRetainedBytes);
    const external = new code.ExternalTasks({
      ...this.parts,
      store: () => store,
      onEnd: (type, end) => this.work.programs.note(type, end),
      sweep: () => this.handlers.sweep(),
    });
    if (this.#isClosed) void external.close();
    this.#opened = { code, store, external, groups: new code.TaskGroups(store) };
    this.handlers.opened(store);
    this.schedules.opened(store);
    return this.#opened;
  }
}

function idOf(task: TaskName | string): string {
  return typeof task === 'string' ? task : expectName(task).id;
}
