import { pauseAfter } from '../../core/async/backoff.js';
import type { CancelTimer } from '../../core/async/node-clock.js';
import type { Context } from '../../core/context/context.js';
import { TASK_PREFIX } from '../../core/decision/index.js';
import type { ScheduleReconciler } from './schedule-reconciler.js';
import type { ParsedSchedule } from '../rules/schedule-options.js';
import { SCHEDULE_TYPE } from '../rules/schedule-record.js';

/** ms after a tick before a node looks that did not submit the former one, at least and at most. */
const PATIENCE = { least: 250, most: 500 };
/** ms between two looks while ticks wait for the end of a run. */
const POLL = 1000;
/** ms before the next look after an error. */
const RETRY = { first: 1000, longest: 30_000, jitter: 0.2 };
/** ms: the longest timer. The node's clock may drift against the cluster's, so a longer one is set in steps. */
const LONGEST_WAIT = 600_000;
/** ms by which cluster time may go back from one look to the next while all clocks are right. */
const SET_BACK = 60_000;

/**
 * The timer of one schedule on this node. It counts by cluster time, so it does not matter what time the node has.
 *
 * Each node has such a timer. The node that submitted the former tick acts at the tick; the others only look whether it
 * did, {@link PATIENCE} later.
 */
export class ScheduleTimer {
  #cancelTimer?: CancelTimer;
  /** The present look, and those before it. */
  #looking: Promise<void> = Promise.resolve();
  #isStarted = false;
  #isClosed = false;
  /** Cluster time of the next look. */
  #next = -Infinity;
  /** Cluster time of the last look. */
  #lookedAt = -Infinity;
  #errors = 0;

  constructor(
    private readonly schedule: ParsedSchedule,
    private readonly look: ScheduleReconciler,
    private readonly context: Context,
    /** Cluster time as the slowest clock of the members shows it. @throws StoreUnavailableError */
    private readonly now: () => Promise<number>,
  ) {}

  /** Idempotent. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#wake();
  }

  /** Waits for the present look. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer?.();
    await this.#looking;
  }

  /** A run of this schedule has ended on this node. If other ticks wait for that, looks now. */
  runEnded(): void {
    if (this.look.isWaiting) this.#lookNow();
  }

  /** The semaphore of the schedule has changed. If the schedule was paused, looks now: ticks may be missed. */
  semaphoreChanged(): void {
    if (this.look.isHeldBack) this.#lookNow();
  }

  #lookNow(): void {
    this.#next = -Infinity;
    this.#wake();
  }

  #wake(): void {
    this.#cancelTimer?.();
    if (this.#isStarted) this.#looking = this.#looking.then(() => this.#turn());
  }

  /** Never rejects. */
  async #turn(): Promise<void> {
    if (this.#isClosed) return;
    const wait = await this.#lookIfDue().catch((error: unknown) => this.#failed(error));
    this.#cancelTimer?.();
    if (this.#isClosed) return;
    this.#cancelTimer = this.context.nodeClock.schedule(() => this.#wake(), Math.min(Math.max(wait, 1), LONGEST_WAIT));
  }

  /** @returns ms until the next look */
  async #lookIfDue(): Promise<number> {
    const now = await this.now();
    // After its clock was set back, the store may remember ticks that are still to come, which the look reports.
    const isSetBack = now < this.#lookedAt - SET_BACK;
    if (now >= this.#next || isSetBack) {
      await this.look.look(now);
      this.#lookedAt = now;
      this.#next = this.#nextLook(now);
    }
    this.#errors = 0;
    return this.#next - (await this.now());
  }

  #nextLook(now: number): number {
    const { least, most } = PATIENCE;
    const patience = this.look.isFirst ? 0 : least + (most - least) * this.context.random.number();
    const tick = this.schedule.ticks.next(now) + patience;
    return this.look.isWaiting ? Math.min(tick, now + POLL + patience) : tick;
  }

  #failed(error: unknown): number {
    const semaphore = `${TASK_PREFIX}${SCHEDULE_TYPE}${this.schedule.name}`;
    // After a shutdown the store may be closed, which is no error to report.
    if (!this.#isClosed)
      this.context.events.next({ type: 'problem', semaphore, action: 'look at the schedule', error });
    return pauseAfter(this.#errors++, this.context.random.number(), RETRY);
  }
}
