import { type CancelTimer, type NodeClock, systemClock } from '../../core/async/node-clock.js';

interface Timer {
  /** Monotonic ms. */
  readonly due: number;
  readonly action: () => void;
}

/** Time that stands still until a test moves it, for all nodes and the store of a test. */
export class TestClock {
  #now = 0;
  readonly #timers = new Set<Timer>();

  /** @param startsAt ms since 1970 */
  constructor(readonly startsAt: number) {}

  /** ms since the start of the test. */
  monotonic = (): number => this.#now;
  /** The store's clock: ms since 1970. */
  cluster = (): number => this.#now + this.startsAt;

  schedule = (action: () => void, delay: number): CancelTimer => {
    const timer = { due: this.#now + Math.max(0, delay), action };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  };

  nextTurn = (action: () => void): void => void setImmediate(action);

  /** Number of timers that are set. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Monotonic ms at which the next timer is due; Infinity if there is none. */
  get nextDue(): number {
    return this.#first?.due ?? Infinity;
  }

  /** Moves time without running a timer. Never moves it back. */
  moveTo(now: number): void {
    this.#now = Math.max(this.#now, now);
  }

  /** Moves time to the next timer, and runs it. Does nothing if there is none. */
  runNext(): void {
    const timer = this.#first;
    if (!timer) return;
    this.#timers.delete(timer);
    this.moveTo(timer.due);
    timer.action();
  }

  get #first(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) if (!first || timer.due < first.due) first = timer;
    return first;
  }
}

/** The clocks and timers of one node of a test. */
export class TestNodeClock implements NodeClock {
  #isStopped = false;

  constructor(private readonly time: TestClock) {}

  monotonic = (): number => this.time.monotonic();
  wall = (): number => this.time.cluster();

  /**
   * A call that waits, for example after a collision of two writes, waits in real time: the test awaits the call, and can't
   * move time meanwhile.
   */
  schedule = (action: () => void, delay: number, isAwaited = false): CancelTimer => {
    const run = () => {
      cancel();
      if (!this.#isStopped) action();
    };
    const cancelFake = this.time.schedule(run, delay);
    const cancelReal = isAwaited ? systemClock.schedule(run, delay, true) : () => undefined;
    const cancel = () => {
      cancelFake();
      cancelReal();
    };
    return cancel;
  };

  nextTurn = (action: () => void): void => this.time.nextTurn(action);

  /** No timer of this node runs from now on: its process is gone. */
  stop(): void {
    this.#isStopped = true;
  }
}
