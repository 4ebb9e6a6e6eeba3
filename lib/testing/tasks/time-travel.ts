import { partsOf } from '../../gatekeeper/index.js';
import { type Due, type DueWork, nextTick, sweepNow } from './due-work.js';
import type { TaskLog } from './task-log.js';
import type { TestClock } from './test-clock.js';
import type { TestNode } from './test-node.js';

/** ms of real time for which a move of time waits for a handler, for example for its answer from a database. */
const HANDLER_PATIENCE = 100;
/** Turns of the event loop without any change, after which nothing more happens without time. */
const STILL_TURNS = 3;
/** ms. A longer time in which nothing is due is skipped. */
const CALM = 5000;
/** ms before a tick at which the skipped time ends. */
const BEFORE_TICK = 1000;
/** ms after a tick, or after the last attempt, before time is skipped: nodes look at a tick half a second late. */
const AFTER = 2000;

interface TimeTravelParts {
  readonly clock: TestClock;
  readonly work: DueWork;
  readonly log: TaskLog;
  /** The nodes that have started, and live. */
  readonly nodes: () => readonly TestNode[];
}

/** Moves the time of a test, and lets everything happen that is due on the way. */
export class TimeTravel {
  /** Attempts that did not end in time: time moves on beside them. */
  readonly #long = new Set<string>();
  /** The text for which the last sweep did nothing. */
  #inVain?: string | undefined;
  /** Monotonic ms of the next tick, as it was known last, and of the last moment with an attempt. */
  #tick = -Infinity;
  #busy = -Infinity;

  constructor(private readonly parts: TimeTravelParts) {}

  /**
   * Waits until nothing more happens without time.
   *
   * @param patience ms of real time for which it waits for each handler
   * @returns ids of the tasks whose handlers did not end
   */
  async settle(patience = HANDLER_PATIENCE, isAgain = false): Promise<string[]> {
    const { log } = this.parts;
    if (isAgain) this.#long.clear();
    let changes = -1;
    let still = 0;
    for (let since = performance.now(); ;) {
      await new Promise((resolve) => setImmediate(resolve));
      if (changes !== log.changes) {
        changes = log.changes;
        still = 0;
        since = performance.now();
      } else if (++still >= STILL_TURNS) {
        const awaited = log.running.filter((key) => !this.#long.has(key));
        const isOver = performance.now() - since > patience;
        for (const key of isOver ? awaited : []) this.#long.add(key);
        if (isOver || awaited.length === 0) return awaited.map((key) => key.split(' ', 1)[0]!);
      }
    }
  }

  /** Runs what is due at the present time, and waits until nothing more happens. @returns as {@link settle} */
  async untilIdle(patience: number): Promise<string[]> {
    for (;;) {
      const left = await this.settle(patience, true);
      if (left.length > 0 || !(await this.#step(this.parts.clock.monotonic()))) return left;
    }
  }

  /** @param ms by which time moves */
  async advance(ms: number): Promise<void> {
    const { clock } = this.parts;
    const end = clock.monotonic() + ms;
    do await this.settle();
    while (await this.#step(end));
    clock.moveTo(end);
    await this.settle();
  }

  /** Moves time on until the promise is settled. */
  async drive<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = () => void (isSettled = true);
    promise.then(settle, settle);
    for (;;) {
      await this.settle();
      if (isSettled) return promise;
      this.parts.clock.runNext();
    }
  }

  /**
   * Moves time to the next event, and lets it happen.
   *
   * @param end monotonic ms
   * @returns false if there is none until then
   */
  async #step(end: number): Promise<boolean> {
    const { clock } = this.parts;
    const [sweeper] = this.parts.nodes();
    const due = sweeper && this.#due(sweeper);
    const dueAt = due ? due.at - clock.startsAt : Infinity;
    const calm = sweeper ? await this.#calmUntil(Math.min(end, dueAt)) : -Infinity;
    if (calm - clock.monotonic() > CALM) clock.moveTo(calm);
    else if (due && dueAt <= Math.min(clock.nextDue, end + 1)) await this.#sweep(sweeper, due);
    else if (clock.nextDue <= end) clock.runNext();
    else return false;
    return true;
  }

  #due(sweeper: TestNode): Due | undefined {
    const due = this.parts.work.next(partsOf(sweeper).context.timing.clockTolerance);
    return due?.text === this.#inVain ? undefined : due;
  }

  async #sweep(sweeper: TestNode, { at, text }: Due): Promise<void> {
    const { clock, log } = this.parts;
    clock.moveTo(at - clock.startsAt);
    const before = log.changes;
    await sweepNow(sweeper);
    this.#inVain = log.changes === before ? text : undefined;
  }

  /**
   * Monotonic ms until which surely nothing happens, so that the idle timers of the nodes need not run.
   *
   * @param end monotonic ms at which it surely ends
   */
  async #calmUntil(end: number): Promise<number> {
    const { clock, work, nodes } = this.parts;
    const now = clock.monotonic();
    const isTicking = now >= this.#tick && now < this.#tick + AFTER;
    if (this.#isBusy) this.#busy = now;
    const until = Math.min(end, work.sweptAt - clock.startsAt);
    if (isTicking || now < this.#busy + AFTER || until - now <= CALM) return -Infinity;
    const ticks = await Promise.all(nodes().map(nextTick));
    this.#tick = Math.min(...ticks) - clock.startsAt;
    return Math.min(until, this.#tick - BEFORE_TICK);
  }

  get #isBusy(): boolean {
    const { log, work, nodes } = this.parts;
    return log.running.length > 0 || work.isWaitingFor(nodes()) || nodes().some((node) => !node.isSkippable);
  }
}
