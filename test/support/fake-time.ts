import type { NodeClock } from '../../lib/async/node-clock.js';

interface Timer {
  readonly due: number;
  readonly action: () => void;
}

/** Cluster time at the test's start; also the nodes' wall clock unless a test sets it. */
export const START = 1_700_000_000_000;

/** Time that stands still until a test moves it. Counts the timers that are set. */
export class FakeTime implements NodeClock {
  #now = 0;
  #wallOffset = START;
  #timers = new Set<Timer>();

  monotonic = (): number => this.#now;
  wall = (): number => this.#now + this.#wallOffset;
  /** The store's clock: goes with this time, whatever happens to the node's wall clock. */
  cluster = (): number => this.#now + START;

  schedule = (action: () => void, delay: number): (() => void) => {
    const timer = { due: this.#now + Math.max(0, delay), action };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  };

  nextTurn = (action: () => void): void => void setImmediate(action);

  /** Timers that are set. */
  get pending(): number {
    return this.#timers.size;
  }

  jumpWall(by: number): void {
    this.#wallOffset += by;
  }

  /** Moves time without running a timer: a frozen process. */
  freeze(ms: number): void {
    this.#now += ms;
  }

  /** Moves time, running what falls due in order and letting promises settle in between. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settled();
    for (let timer = this.#next(end); timer; timer = this.#next(end)) {
      this.#timers.delete(timer);
      this.#now = Math.max(this.#now, timer.due);
      timer.action();
      await settled();
    }
    this.#now = end;
    await settled();
  }

  #next(until: number): Timer | undefined {
    return [...this.#timers].filter(({ due }) => due <= until).toSorted((one, other) => one.due - other.due)[0];
  }
}

/** Lets everything happen that needs no time: promises, and those that they lead to. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
