import type { Subscription } from 'rxjs';
import { pause } from '../../async/pause.js';
import type { Context } from '../../context/context.js';
import type { GatekeeperEvent } from '../../context/events.js';
import { Cell } from '../../cell/cell.js';
import type { RunnableJob } from '../by-hand/run-request-handler.js';
import { type RequestedRun, withRequestedRun } from '../requested-run.js';
import {
  LAST_TICK,
  type LastTick,
  type PlannedTimes,
  type Schedule,
  dueAfter,
  isOf,
  nextTick,
  tickOfRun,
} from './last-tick.js';

/** A job with a schedule whose missed runs are made up for. */
export interface CatchUpJob extends RunnableJob, Schedule {
  readonly times: PlannedTimes;
  /** Whether the scheduler of this node runs it. */
  readonly isScheduled: () => boolean;
}

/** ms after the boot until the first look: the scheduler starts in the same phase. */
const FIRST_LOOK = 1000;
/** Longest wait for a permit in ms. Then the node looks whether another one has made up for it. */
const WAIT = 10_000;
/** ms before the next planned time at which the wait ends: it must not get in the way of the scheduler's run. */
const MARGIN = 1000;
/** ms until the next try after an error. */
const PAUSE = 5000;

/** Cluster time, and the time up to which planned times are settled, in ms. */
interface Look {
  readonly now: number;
  readonly last: number;
}

/** A job of this node, with its record. */
interface Kept {
  readonly job: CatchUpJob;
  readonly cell: Cell<LastTick>;
  /** Whether a look goes on. */
  isLooking: boolean;
  /** Begin of the latest run that has yet to be noted, in ms of the monotonic clock. */
  begunAt?: number | undefined;
}

/**
 * Runs jobs whose planned time passed while the cluster was down, once, on one node. Only jobs with `missed: 'once'` have a
 * record. A run that begins notes its planned time there. After the start, and when the store is back, each node looks
 * whether a later one has passed. The one that gets a permit settles it by compare-and-set, and then runs the job.
 */
export class MissedRuns {
  /** By name of the job. */
  readonly #jobs = new Map<string, Kept>();
  readonly #ending = new AbortController();
  #subscription?: Subscription;

  constructor(private readonly context: Context) {}

  /** Looks after these jobs from now on. Without a job, this node asks the store nothing. */
  serve(jobs: readonly CatchUpJob[]): void {
    for (const job of jobs) this.#jobs.set(job.job, { job, cell: this.#open(job), isLooking: false });
    if (jobs.length === 0) return;
    this.#subscription = this.context.events.subscribe((event) => this.#observe(event));
    this.#lookAtAll(FIRST_LOOK);
  }

  /** Ends all waits. */
  stop(): void {
    this.#subscription?.unsubscribe();
    this.#ending.abort();
  }

  #observe(event: GatekeeperEvent): void {
    if (event.type === 'store-back') return this.#lookAtAll(0);
    if (event.type !== 'run-started' && event.type !== 'run-skipped') return;
    // Other skips leave it to another node, or the store could not be asked.
    if (event.type === 'run-skipped' && event.reason !== 'paused' && event.reason !== 'overlap') return;
    const kept = this.#jobs.get(event.job);
    if (kept?.job.semaphore === event.semaphore) void this.#noteSoon(kept);
  }

  /** While the store is away, a job has one note that is tried again, however many of its runs begin. */
  async #noteSoon(kept: Kept): Promise<void> {
    const isNoting = kept.begunAt !== undefined;
    kept.begunAt = this.context.nodeClock.monotonic();
    if (!isNoting) await this.#untilDone(() => this.#noteAll(kept));
  }

  async #noteAll(kept: Kept): Promise<void> {
    while (kept.begunAt !== undefined) {
      const { begunAt } = kept;
      await this.#note(kept, begunAt);
      // Another run may have begun meanwhile.
      if (kept.begunAt === begunAt) kept.begunAt = undefined;
    }
  }

  #lookAtAll(delay: number): void {
    for (const kept of this.#jobs.values()) void this.#look(kept, delay);
  }

  async #look(kept: Kept, delay: number): Promise<void> {
    if (kept.isLooking) return;
    kept.isLooking = true;
    await this.#pause(delay);
    await this.#untilDone(() => this.#makeUp(kept));
    kept.isLooking = false;
  }

  /** Settles the planned time of a run, but no later one: it may have passed since then without a run. */
  async #note({ job, cell }: Kept, begunAt: number): Promise<void> {
    await cell.transact<void>((record, view, nonce) => {
      const begin = Math.round(view.now - (this.context.nodeClock.monotonic() - begunAt));
      const last = isOf(record, job) ? record.last : begin;
      const tick = tickOfRun(job.times, last, begin) ?? last;
      if (isOf(record, job) && tick <= record.last) return { result: undefined };
      return { write: nextTick(record, job, tick, view, nonce), done: () => undefined, notify: 'none' };
    });
  }

  /** Makes up for the last planned time that was missed, unless another node does, or the next one comes before. */
  async #makeUp(kept: Kept): Promise<void> {
    const { job } = kept;
    while (!this.#ending.signal.aborted && job.isScheduled()) {
      const { now, last } = await this.#read(kept);
      const due = dueAfter(job.times, last, now);
      if (!due) return;
      const left = job.times.next(now) - now - MARGIN;
      if (left <= 0) return;
      if ('again' in due) await this.#pause(due.again);
      else if (await this.#run(kept, due.tick, Math.min(WAIT, left))) return;
    }
  }

  /** Of a job that is seen first, or whose schedule is another now, all planned times up to now are settled. */
  #read({ job, cell }: Kept): Promise<Look> {
    return cell.transact<Look>((record, view, nonce) => {
      const { now } = view;
      if (isOf(record, job)) return { result: { now, last: record.last } };
      return { write: nextTick(record, job, now, view, nonce), done: () => ({ now, last: now }), notify: 'none' };
    });
  }

  /** @returns whether this node has settled it, and run the job */
  async #run(kept: Kept, tick: number, wait: number): Promise<boolean> {
    const { job, cell } = kept;
    let isOurs = false;
    const claim = async () => {
      const claiming = cell.transact<boolean>((record, view, nonce) => {
        if (!isOf(record, job) || record.last >= tick) return { result: false };
        return { write: nextTick(record, job, tick, view, nonce), done: () => true, notify: 'none' };
      });
      // An unknown outcome counts as settled by this node, so no other one runs it, and neither does this one.
      isOurs = await claiming.catch((error: unknown) => (this.#report(error), false));
      return isOurs;
    };
    const { semaphore } = job;
    const { signal } = this.#ending;
    const run: RequestedRun = {
      semaphore,
      job: job.job,
      missed: tick,
      wait,
      signal,
      claim,
      ended: async () => undefined,
    };
    const before = this.context.nodeClock.monotonic();
    try {
      await withRequestedRun(run, () => job.call());
    } catch (error) {
      // An error of the run itself is in its events.
      if (!isOurs && !signal.aborted) throw error;
    }
    const waited = this.context.nodeClock.monotonic() - before;
    if (!isOurs) await this.#pause(Math.max(0, Math.min(wait, PAUSE) - waited));
    return isOurs;
  }

  /** Tries again until it is done, or this node shuts down: a start that is not noted would be made up for. */
  async #untilDone(work: () => Promise<void>): Promise<void> {
    while (!this.#ending.signal.aborted) {
      try {
        return await work();
      } catch (error) {
        this.#report(error);
        await this.#pause(PAUSE);
      }
    }
  }

  #pause(delay: number): Promise<void> {
    if (delay <= 0) return Promise.resolve();
    return pause(this.context.nodeClock, delay, { signal: this.#ending.signal, isAwaited: false });
  }

  /** Under both names: jobs of two applications on one store may be methods of the same name. */
  #open({ job, semaphore: guard }: CatchUpJob): Cell<LastTick> {
    const cell = new Cell(`${encodeURIComponent(job)}@${guard}`, LAST_TICK, this.context);
    const semaphore = cell.key;
    const { events } = this.context;
    cell.listen({
      restored: ({ seq: revision }) => events.next({ type: 'restored', semaphore, revision }),
      unreadable: (error) => events.next({ type: 'record-unreadable', semaphore, error }),
    });
    return cell;
  }

  #report(error: unknown): void {
    this.context.events.next({ type: 'problem', action: 'look for missed runs', error });
  }
}
