import type { Subscription } from 'rxjs';
import type { Context } from '../core/context/context.js';
import { InvalidOptionsError, TASK_PREFIX, show } from '../core/decision/index.js';
import { isStoreError } from '../core/store/index.js';
import { taskCode } from './task-code.js';
import type { TaskStore } from './records/task-store.js';
import { RetryLaterError } from './rules/tasks.errors.js';
import { type TaskContext, expectHandler, preparationOf, preparedHandler } from './workers/task-handler.js';
import type { TaskHandlers } from './task-handlers.js';
import type { ScheduleReconciler } from './schedules/schedule-reconciler.js';
import { type ParsedSchedule, type ScheduleOptions, parseSchedule } from './rules/schedule-options.js';
import type { ScheduleRecords } from './schedules/schedule-records.js';
import type { ScheduleTimer } from './schedules/schedule-timer.js';
import type { SkippedRun } from './schedules/schedule-view.js';
import { SCHEDULE_TYPE, iso, tickId } from './rules/schedule-record.js';
import type { ScheduleView } from './rules/views.js';

/** A tick for its handler. */
export interface ScheduleContext extends TaskContext {
  /** Name of the schedule. */
  readonly schedule: string;
  /** The planned time. For a task that was submitted by hand, the time of this attempt. */
  readonly plannedAt: Date;
}

/** Runs at the ticks of a schedule. Its result is kept as JSON. */
export type ScheduleFunction = (tick: ScheduleContext) => unknown;

interface SchedulesParts {
  readonly context: Context;
  readonly handlers: TaskHandlers;
  /** Opens the tasks: {@link Schedules.opened} is called before it resolves. */
  readonly open: () => Promise<unknown>;
}

interface OwnSchedule {
  readonly schedule: ParsedSchedule;
  /** Both are there when the tasks are open. */
  look?: ScheduleReconciler;
  timer?: ScheduleTimer;
}

const SEMAPHORE = TASK_PREFIX + SCHEDULE_TYPE;
/** ms before a run is tried again that could not begin because of the store. */
const RETRY = 1000;

/** The schedules of one node. */
export class Schedules {
  readonly #own = new Map<string, OwnSchedule>();
  /** The last looks of schedules that were removed. */
  readonly #ending = new Set<Promise<void>>();
  #store?: TaskStore;
  #records?: ScheduleRecords;
  #isStarted = false;
  #closed?: Promise<unknown>;
  #subscription?: Subscription;

  constructor(private readonly parts: SchedulesParts) {}

  /**
   * Runs a handler at the planned times of an expression, once per time in the whole cluster.
   *
   * @throws InvalidOptionsError listing every fault
   */
  add(name: string, expression: string, handler: ScheduleFunction, options?: ScheduleOptions): void {
    const schedule = parseSchedule(name, expression, options);
    expectHandler(`schedule ${show(name)}`, handler);
    if (this.#own.has(name)) {
      throw new InvalidOptionsError(`schedule ${show(name)}`, [
        'name: this node has such a schedule already: rename one, or end the other one with unschedule() before',
      ]);
    }
    const own: OwnSchedule = { schedule };
    const prepare = preparationOf(handler);
    const run = preparedHandler(async (task: TaskContext) => prepare(await this.#tickOf(task, name, own.look!)));
    this.parts.handlers.handle(SCHEDULE_TYPE + name, run, schedule.handler);
    this.#own.set(name, own);
    if (this.#store) this.#count(own);
  }

  /** Call this when the tasks are open. */
  opened(store: TaskStore): void {
    this.#store = store;
    this.#records = new taskCode.loaded!.ScheduleRecords(store, this.parts.context);
    for (const own of this.#own.values()) this.#count(own);
  }

  /** Counts the ticks of a schedule, from {@link start} on. */
  #count(own: OwnSchedule): void {
    const { schedule } = own;
    const code = taskCode.loaded!;
    const { context, handlers } = this.parts;
    const type = SCHEDULE_TYPE + schedule.name;
    const isPaused = () => handlers.isLimitPaused(type);
    const turn = () => this.#store!.slices.turn();
    const learnPause = () => handlers.learnLimit(type);
    own.look = new code.ScheduleReconciler(schedule, { records: this.#records!, context, isPaused, learnPause, turn });
    own.timer = new code.ScheduleTimer(schedule, own.look, context, () => this.#now());
    if (this.#isStarted && !this.#closed) this.#start(own.timer);
  }

  /**
   * Ends a schedule of this node. A run that goes on may end. Its name is free at once.
   *
   * @returns whether this node had it
   */
  remove(name: string): boolean {
    const own = this.#own.get(name);
    if (!own) return false;
    this.#own.delete(name);
    this.parts.handlers.remove(SCHEDULE_TYPE + name);
    if (!own.timer) return true;
    const ending = own.timer.close().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
    return true;
  }

  /** Begins to count. Schedules that are added later begin at once. */
  start(): void {
    this.#isStarted = true;
    if (!this.#closed) for (const { timer } of this.#own.values()) if (timer) this.#start(timer);
  }

  /** Submits no more ticks. Other nodes do it. Idempotent. */
  async close(): Promise<void> {
    this.#subscription?.unsubscribe();
    this.#closed ??= Promise.all([...[...this.#own.values()].map(({ timer }) => timer?.close()), ...this.#ending]);
    await this.#closed;
  }

  /** All schedules of the cluster, by name. @throws StoreUnavailableError */
  async list(): Promise<ScheduleView[]> {
    await this.parts.open();
    const { scheduleViewOf, viewOfOthers } = taskCode.loaded!;
    const stored = await this.#records!.list();
    const now = await this.#now();
    const views: ScheduleView[] = [];
    for (const name of new Set([...this.#own.keys(), ...stored.keys()])) {
      await this.#store!.slices.turn();
      const [own, record] = [this.#own.get(name), stored.get(name)];
      views.push(own ? scheduleViewOf(own.schedule, record, now) : viewOfOthers(name, record!, now));
    }
    return views.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** The tick of a task id, if it is remembered that it was skipped. @throws StoreUnavailableError */
  async skippedRun(id: string): Promise<SkippedRun | undefined> {
    const [, name, time] = /^cron\.([\w.-]+):(.+)$/.exec(id) ?? [];
    if (name === undefined) return undefined;
    await this.parts.open();
    const { record } = (await this.#records!.find(name)) ?? {};
    const skipped = record?.skipped.find(({ at }) => iso(at) === time);
    return skipped && { former: tickId(name, skipped.former) };
  }

  #start(timer: ScheduleTimer): void {
    this.#subscription ??= this.#observe();
    timer.start();
  }

  #observe(): Subscription {
    const { events, changes } = this.parts.context;
    const subscription = events.subscribe((event) => {
      if (event.type !== 'task-ended' || event.outcome === undefined || !event.task.startsWith(SCHEDULE_TYPE)) return;
      this.#own.get(event.task.slice(SCHEDULE_TYPE.length, event.task.indexOf(':')))?.timer?.runEnded();
    });
    subscription.add(
      changes.subscribe((semaphore) => {
        if (semaphore.startsWith(SEMAPHORE))
          this.#own.get(semaphore.slice(SEMAPHORE.length))?.timer?.semaphoreChanged();
      }),
    );
    return subscription;
  }

  async #tickOf(task: TaskContext, schedule: string, look: ScheduleReconciler): Promise<ScheduleContext> {
    const planned = Date.parse((task.data as { plannedAt?: string } | undefined)?.plannedAt ?? '');
    const isTick = !Number.isNaN(planned) && task.id === tickId(schedule, planned);
    if (isTick) await confirm(look, planned);
    return { ...task, schedule, plannedAt: new Date(isTick ? planned : await this.#now()) };
  }

  async #now(): Promise<number> {
    await this.#store!.stamp();
    return this.parts.context.clusterClock.earliest();
  }
}

async function confirm(look: ScheduleReconciler, tick: number): Promise<void> {
  try {
    await look.confirm(tick);
  } catch (error) {
    throw isStoreError(error) ? new RetryLaterError(RETRY) : error;
  }
}
