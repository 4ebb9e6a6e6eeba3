import { type DurationInput, InvalidOptionsError, readDuration, show } from '../../core/decision/index.js';
import { partsOf } from '../../gatekeeper/index.js';
import { MemoryCluster } from '../../stores/memory/memory-cluster.js';
import { MemoryDriver } from '../../stores/memory/memory.driver.js';
import type { StoreDefinition } from '../../core/store/index.js';
import type { SubmitArguments, TaskName, TaskView } from '../../tasks/index.js';
import { DueWork } from './due-work.js';
import { type TestAttempt, TaskLog } from './task-log.js';
import { TestClock, TestNodeClock } from './test-clock.js';
import { TestNode, type TestNodeOptions } from './test-node.js';
import { TimeTravel } from './time-travel.js';

/** Options of {@link TestTasks}. */
export interface TestTasksOptions {
  /** The time at which the test begins. Default: 2030-01-01T00:00:00Z. */
  readonly startAt?: Date;
}

const START = new Date('2030-01-01T00:00:00Z');
/** ms of real time for which {@link TestTasks.idle} waits for handlers. */
const LONGEST_HANDLER = 5000;
/** ms; 30 days. */
const LONGEST_RUN = 30 * 24 * 60 * 60 * 1000;
/** ms by which time moves while a task waits for a permit of its type, and how often without a change. */
const PERMIT_WAIT = { step: 1000, most: 60 };

/**
 * Distributed tasks for unit tests: a store in memory, a clock that stands still until the test moves it, and nodes that are
 * real gatekeepers. Retries, delayed tasks, schedules and crashes take no time.
 *
 * ```ts
 * const tasks = new TestTasks();
 * const module = await Test.createTestingModule({
 *   imports: [GatekeeperTestingModule.forNode(tasks.node())],
 *   providers: [Mails],
 * }).compile();
 * await module.init();
 * const { state, result } = await tasks.run(single(mail, 'order-7'), { to: 'ada' });
 * await tasks.advance('1h');
 * ```
 */
export class TestTasks {
  readonly #clock: TestClock;
  readonly #log: TaskLog;
  readonly #work: DueWork;
  readonly #travel: TimeTravel;
  readonly #store: StoreDefinition;
  readonly #nodes: TestNode[] = [];

  constructor({ startAt = START }: TestTasksOptions = {}) {
    this.#clock = new TestClock(startAt.getTime());
    const cluster = new MemoryCluster(this.#clock.cluster);
    this.#store = { kind: 'memory', isOwn: true, open: (options) => new MemoryDriver(cluster, options?.writer) };
    const texts = cluster.tasks;
    this.#log = new TaskLog(this.#clock.cluster);
    this.#work = new DueWork(texts);
    texts.onWrite = (text) => this.#log.written(text);
    this.#travel = new TimeTravel({
      clock: this.#clock,
      work: this.#work,
      log: this.#log,
      nodes: () => this.#nodes.filter(({ isLiving }) => isLiving),
    });
  }

  /**
   * Makes another node of the cluster. Give it to `GatekeeperTestingModule.forNode()`, or put it in the place of the
   * application's GatekeeperService. It starts and closes with the application.
   *
   * @param options as for `GatekeeperModule.forRoot`, without the store. Default of `acquirer`: node1, node2 and so on
   * @throws InvalidOptionsError
   */
  node(options: TestNodeOptions = {}): TestNode {
    const clock = new TestNodeClock(this.#clock);
    const acquirer = `node${this.#nodes.length + 1}`;
    const drive = <T>(promise: Promise<T>) => this.#travel.drive(promise);
    const node = new TestNode({ acquirer, ...options }, { store: this.#store, clock, drive });
    node.events$.subscribe((event) => this.#log.noted(node.node.acquirer, event));
    this.#nodes.push(node);
    return node;
  }

  /** The present time of the store and of all nodes. `Date.now()` of the test is another. */
  get now(): Date {
    return new Date(this.#clock.cluster());
  }

  /**
   * The tasks as they were submitted, oldest first: also sub-tasks, and the ticks of schedules. The tasks that run the handlers
   * of groups are left out.
   */
  get submitted(): readonly TaskView[] {
    return this.#log.submitted;
  }

  /** The attempts on all nodes, oldest first, also those of the handlers of groups. */
  get attempts(): readonly TestAttempt[] {
    return this.#log.attempts;
  }

  /** The attempts at one task, oldest first. @param task its name or id */
  attemptsOf(task: TaskName | string): TestAttempt[] {
    const id = typeof task === 'string' ? task : task.id;
    return this.attempts.filter((attempt) => attempt.task === id);
  }

  /** The tasks that ended without success, and are remembered: failed, crashed, invalid or cancelled; in the order of their ends. */
  deadLetters(): TaskView[] {
    return this.#work.deadLetters();
  }

  /** The task as it stands in the store. @param task its name or id @returns undefined if it is not remembered */
  find(task: TaskName | string): Promise<TaskView | undefined> {
    return this.#living.tasks.find(task);
  }

  /**
   * Submits a task, and waits until nothing more happens without time. So its first attempt has ended.
   *
   * @param name made with `single()` or `grouped()`
   * @returns the task, for example `completed` with its `result`, or `delayed` with its `lastError`
   * @throws InvalidOptionsError as `TasksService.submit`
   * @throws Error as {@link idle}
   */
  async run<In>(name: TaskName<In>, ...rest: SubmitArguments<In>): Promise<TaskView> {
    const { id } = await this.#living.tasks.submit(name, ...rest);
    await this.idle();
    return (await this.find(id))!;
  }

  /**
   * Waits until nothing more happens without time: the handlers of all tasks that may run now have ended. Time stands still.
   *
   * @param options `timeout`: real time for which it waits for a handler, ms or text; default 5 s
   * @throws Error if a handler does not end in this time; it names the task
   */
  async idle({ timeout = LONGEST_HANDLER }: { readonly timeout?: DurationInput } = {}): Promise<void> {
    const patience = msOf(timeout);
    const left = await this.#travel.untilIdle(patience);
    if (left.length === 0) return;
    const tasks = left.join(', ');
    throw new Error(
      `handlers did not end within ${patience} ms: ${tasks}. If they wait for time, or for their signal, use advance()`,
    );
  }

  /**
   * Moves time on, and lets everything happen that is due on the way: delayed tasks, retries, ticks of schedules, leases that
   * end. Waits for each handler for at most 100 ms of real time, and then moves on beside it.
   *
   * @param duration ms, or text ("1h")
   * @throws InvalidOptionsError if it is no duration
   */
  async advance(duration: DurationInput): Promise<void> {
    await this.#travel.advance(msOf(duration));
  }

  /**
   * Moves time until no task is left that runs or becomes due: through all retries and delays. Tasks of a type that no node
   * takes stay. Ticks of schedules run only while other tasks are left.
   *
   * @param options `limit`: how far time may move, ms or text; default 30 days
   * @throws Error if tasks are left after that; it names one
   * @throws Error as {@link idle}
   */
  async runAll({ limit = LONGEST_RUN }: { readonly limit?: DurationInput } = {}): Promise<void> {
    const end = this.#clock.monotonic() + msOf(limit);
    for (let waits = 0; waits < PERMIT_WAIT.most;) {
      await this.idle();
      const due = this.#work.next(partsOf(this.#living).context.timing.clockTolerance);
      if (!due && !this.#work.isWaitingFor(this.#nodes.filter(({ isLiving }) => isLiving))) return;
      if (this.#clock.monotonic() >= end) throw new Error(endless(due?.text));
      const { changes } = this.#log;
      const wait = due ? due.at - this.#clock.cluster() : PERMIT_WAIT.step;
      await this.#travel.advance(Math.min(Math.max(wait, 1), end - this.#clock.monotonic()));
      waits = this.#log.changes === changes ? waits + 1 : 0;
    }
  }

  /**
   * Lets a node crash, as `kill -9` does: its timers and its connection end at once, and other nodes take over its tasks when
   * their leases have ended. Code of its handlers goes on, because it runs in the process of the test, but its result is lost.
   */
  async crash(node: TestNode): Promise<void> {
    this.#log.forget(node.node.acquirer);
    await node.crash();
  }

  /** Closes the nodes that live. Not needed for a node whose application is closed. */
  async close(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.close()));
  }

  get #living(): TestNode {
    const node = this.#nodes.find(({ isLiving }) => isLiving);
    if (node) return node;
    throw new Error('no node lives: make one with node(), and start its application with init()');
  }
}

function msOf(duration: DurationInput): number {
  const read = readDuration(duration);
  if (typeof read === 'number') return read;
  throw new InvalidOptionsError('the time of a test', [read]);
}

function endless(text: string | undefined): string {
  const id = text && /"id":"([^"]+)"/.exec(text)?.[1];
  return `tasks are left after the limit${id ? `: the next is ${show(id)}` : ''}. Give a longer limit, or end what submits or retries them`;
}
