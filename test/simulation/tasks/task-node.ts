import { GatekeeperError, InvalidOptionsError } from '../../../lib/core/decision/index.js';
import type { GatekeeperEvent } from '../../../lib/core/context/events.js';
import type { NodeIdentity } from '../../../lib/core/context/node-identity.js';
import { createContext } from '../../../lib/core/context/context.js';
import { SemaphoreDirectory } from '../../../lib/core/permits/semaphore-directory.js';
import { InvalidTaskError, type TaskContext, Tasks, type TaskName } from '../../../lib/tasks/index.js';
import type { GroupContext, ScheduleContext, SubmitOptions, Submitted } from '../../../lib/tasks/index.js';
import '../../support/loaded-code.js';
import type { SimProcess } from '../machines/sim-process.js';
import { FaultyStore } from '../store/faulty-store.js';
import type { Chance } from '../world/chance.js';
import { FaultyTasks } from './faulty-tasks.js';
import { workOn } from './handler-work.js';
import type { SchedulePlan } from './schedule-plan.js';
import type { TasksScene } from './tasks-scene.js';
import type { PlannedLink } from './chain-plan.js';
import { SCHEDULE } from './schedule-checker.js';
import { identityOf } from './sent-tasks.js';
import { type PlannedTask, type Tree, subTasksOf } from './tree-plan.js';
import { UNIQUE_TYPE } from './uniques.js';

/** Types of tasks in a schedule. */
export const TYPES = ['mail', 'import'] as const;
/** Types of tasks with sub-tasks, and of those that have none. */
const TREE_TYPES = ['tree', 'leaf'] as const;

/** One process of an application with tasks: the production code in a simulated environment. */
export class TaskNode {
  readonly tasks: Tasks;
  readonly #context;
  readonly #directory: SemaphoreDirectory;
  readonly #trees: Chance;
  isCut = false;
  hasClosed = false;
  isLeaving = false;

  constructor(
    readonly name: string,
    readonly process: SimProcess,
    readonly scene: TasksScene,
    private readonly chance: Chance,
  ) {
    this.#context = this.#createContext();
    this.#context.events.subscribe((event) => this.#heard(event));
    this.#directory = new SemaphoreDirectory(this.#context, {
      isOwn: false,
      atOnce: false,
      requireDefinitions: false,
      isTransient: false,
      patience: scene.callTimeout,
      sweepInterval: scene.settings.sweepInterval,
      announcement: 0,
    });
    this.tasks = new Tasks({
      context: this.#context,
      directory: this.#directory,
      grace: scene.grace,
      nodes: scene.sent?.livingNodes(this),
    });
    const { lease } = scene;
    for (const type of TYPES) {
      const keepAlive = chance.happens(0.7);
      this.tasks.handlers.handle(type, (task) => this.#attempt(task), {
        lease,
        keepAlive,
        concurrency: chance.whole(1, 4),
      });
    }
    this.tasks.handlers.onGroupFinished('import', (group) => this.#join(group), { lease, ...this.scene.tries });
    this.tasks.handlers.onInvalid(() => undefined);
    this.#trees = chance.beside();
    if (scene.faults.has('unique')) {
      const options = { lease, keepAlive: this.#trees.happens(0.7), concurrency: 2 };
      this.tasks.handlers.handle(UNIQUE_TYPE, (task) => this.#attempt(task), options);
    }
    // In a schedule without them, their queues would shift the draws of all calls.
    if (scene.trees.tasks.length > 0) this.#handleTrees();
    if (scene.links.size > 0) {
      this.tasks.handlers.handle('link', (task) => this.#attempt(task), { lease, concurrency: 2 });
      this.tasks.handlers.onGroupFinished('link', (group) => this.#join(group), { lease, ...this.scene.tries });
    }
    scene.sent?.handle(this, (task) => this.#attempt(task), this.#trees);
    scene.fair?.handle(this, (task) => this.#attempt(task), this.#trees);
    if (scene.schedule) this.#schedule(scene.schedule.plan);
  }

  get identity(): NodeIdentity {
    return identityOf(this.name);
  }

  get isLiving(): boolean {
    return !this.process.isCrashed && !this.hasClosed;
  }

  start(): void {
    this.scene.trace.note(this.name, () => 'starts');
    this.#context.clusterClock.start();
    this.tasks.start();
  }

  /** One try of an application to submit. */
  async submit(name: TaskName, data: unknown, link?: PlannedLink, more: SubmitOptions = {}): Promise<void> {
    // A member of a group that is submitted again after its group's end would open a new incarnation. A link is planned once.
    const dedup = name.member || link ? 'retained' : 'unfinished';
    const { after, afterFailed } = link ?? {};
    const own: SubmitOptions = { ...this.scene.usual, ...this.scene.stops.optionsOf(name.id), dedup, ...more };
    const options: SubmitOptions = { ...own, ...(after && afterFailed && { after, afterFailed }) };
    this.scene.checker.asked(name.id);
    const queue = link?.queue;
    const submitted =
      queue === undefined ? this.tasks.submit(name, data, options) : this.tasks.submitSerial(queue, name, data, own);
    const { outcome } = await submitted.catch((error: unknown) => this.#withoutForgotten(error, name, data, options));
    this.scene.trace.note(this.name, () => `${name.id}: ${outcome}`);
    this.scene.checker.accepted(name.id);
  }

  /** An awaited task that the error names has ended and is forgotten: the application waits for the others only. */
  async #withoutForgotten(error: unknown, name: TaskName, data: unknown, options: SubmitOptions): Promise<Submitted> {
    const after = options.after?.filter((id) => !(error as Error).message.includes(JSON.stringify(id)));
    if (!(error instanceof InvalidOptionsError) || after?.length === options.after?.length) throw error;
    const left: SubmitOptions = { ...options, after: after?.length ? after : undefined };
    try {
      return await this.tasks.submit(name, data, left);
    } catch (next) {
      return this.#withoutForgotten(next, name, data, left);
    }
  }

  submitUnique(name: TaskName, data: unknown, options: SubmitOptions): Promise<Submitted> {
    return this.tasks.submit(name, data, { ...this.scene.usual, ...options });
  }

  cut(): void {
    this.isCut = true;
  }

  mend(): void {
    this.isCut = false;
  }

  leave(): void {
    this.isLeaving = true;
    // A frozen process hears of it when it thaws.
    this.process.io(() => {
      this.scene.trace.note(this.name, () => 'leaves');
      this.watch('close', this.#close());
    });
  }

  watch(what: string, promise: Promise<unknown>): void {
    promise.catch((error: Error) => {
      if (error instanceof GatekeeperError) this.scene.trace.note(this.name, () => `${what}: ${error.message}`);
      else this.scene.checker.violated(`${this.name} ${what} failed: ${error.stack}`);
    });
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.process.schedule(resolve, ms));
  }

  async #close(): Promise<void> {
    await this.tasks.close();
    await Promise.all([...this.#directory.inUse.values()].map((semaphore) => semaphore.close()));
    this.#context.clusterClock.stop();
    this.#context.timers.close();
    this.hasClosed = true;
    this.scene.trace.note(this.name, () => 'has closed');
    // The deadline of a call that is never answered may still run, and a handler that ignores its signal.
    const rest = 5 * this.scene.callTimeout + this.scene.longestWork;
    this.scene.time.after(rest, () => {
      if (this.process.timers > 0) this.scene.checker.violated(`T5 ${this.name} left ${this.process.timers} timers`);
      this.process.crash();
    });
  }

  /** One attempt, noted from the call of the handler until its end. */
  async #attempt(task: TaskContext, handle = () => workOn(task, this, this.chance)): Promise<unknown> {
    const { limits, attempts } = this.scene;
    this.scene.began(task);
    const ends = [attempts.began(task, this.process), limits?.began(task, this.process)];
    try {
      return await handle();
    } finally {
      for (const ended of ends) ended?.();
    }
  }

  #schedule({ expression, mode, missed, interval }: SchedulePlan): void {
    const { lease } = this.scene;
    const run = async ({ id, signal }: ScheduleContext) => {
      this.scene.trace.note(this.name, () => `  ${id} begins`);
      await this.pause(this.#trees.skewed(1, Math.min(interval / 3, lease)));
      signal.throwIfAborted();
      if (this.scene.isTrouble && this.#trees.happens(0.1)) throw new Error('simulated: the tick failed');
    };
    this.tasks.schedules.add(SCHEDULE, expression, run, {
      ...this.scene.ticks,
      mode,
      missed,
      lease,
    });
  }

  #handleTrees(): void {
    const { lease } = this.scene;
    for (const type of TREE_TYPES) {
      const options = { lease, keepAlive: this.#trees.happens(0.7), concurrency: this.#trees.whole(1, 4) };
      this.tasks.handlers.handle(type, (task) => this.#attempt(task, () => this.#grow(task)), options);
      this.tasks.handlers.onGroupFinished(type, (group) => this.#join(group), { lease, ...this.scene.tries });
    }
  }

  /** Submits the sub-tasks in another order each time, some twice, and does not always come to an end. */
  async #grow(task: TaskContext): Promise<unknown> {
    const planned = task.data === undefined ? [] : subTasksOf(task.data as Tree);
    const order = planned
      .map((each) => ({ each, at: this.#trees.number() }))
      .toSorted((one, other) => one.at - other.at);
    const generate = async ({ name, data }: PlannedTask) => {
      const { outcome } = await task.submit(name, data, {
        ...this.scene.usual,
        ...this.scene.stops.optionsOf(name.id),
      });
      this.scene.trace.note(this.name, () => `${task.id} has ${name.id}: ${outcome}`);
    };
    if (this.#trees.happens(0.5)) await Promise.all(order.map(({ each }) => generate(each)));
    else
      for (const { each } of order) {
        await generate(each);
        if (this.#trees.happens(0.2)) await this.pause(this.#trees.skewed(1, this.scene.lease));
        if (this.#trees.happens(0.02)) throw new InvalidTaskError('simulated: invalid in the middle');
      }
    return workOn(task, this, this.chance);
  }

  async #join(group: GroupContext): Promise<void> {
    const { scene } = this;
    let members = 0;
    for await (const { id, outcome } of group.members()) {
      members++;
      // An invalid parent skips what it has announced and not submitted.
      // A link is cancelled if one before it failed.
      if (outcome === 'cancelled' && group.type !== 'leaf' && group.type !== 'link' && !scene.checker.wasCancelled(id))
        scene.checker.violated(`T3 ${id} was not cancelled`);
    }
    if (members !== group.total) scene.checker.violated(`T3 ${group.group} has ${members} of ${group.total} members`);
    await this.pause(this.chance.skewed(1, scene.lease / 2));
    scene.joined(group);
  }

  #observe(key: string, former: string | undefined, next: string | undefined): void {
    const { checker, stopped, schedule, sent, fair } = this.scene;
    checker.observe(key, former, next);
    sent?.observe(key, former, next);
    fair?.observe(key, next);
    schedule?.observe(key, former, next);
    if (next !== undefined && key.startsWith('root:')) stopped.observe(next);
  }

  #heard(event: GatekeeperEvent): void {
    this.scene.trace.note(
      this.name,
      () =>
        `* ${event.type} ${JSON.stringify({ ...event, type: undefined })} ${'error' in event ? (event.error as Error)?.message : ''}`,
    );
  }

  #createContext() {
    const { scene, process, chance, name } = this;
    const { time, trace, cluster, shared } = scene;
    const client = chance.fork();
    const onWrite = (key: string, former: string | undefined, next: string | undefined) =>
      this.#observe(key, former, next);
    const tasks = new FaultyTasks({
      name,
      process,
      time,
      trace,
      cluster,
      shared,
      chance: chance.fork(),
      isCut: () => this.isCut,
      onWrite,
    });
    const store = new FaultyStore(cluster, { name, time, process, chance: client, trace }, tasks);
    let ids = 0;
    return createContext(
      {
        ...scene.settings,
        store: { kind: 'simulated', open: () => store },
      },
      {
        node: this.identity,
        nodeClock: process,
        random: { number: chance.fork().number, id: () => `${name}.${(ids++).toString(36)}`, instance: () => name },
        isClosing: () => this.isLeaving,
        grantFault: () => undefined,
      },
    );
  }
}
