import type { NodeClock } from '../../lib/core/async/node-clock.js';
import { TestClock } from '../../lib/testing/tasks/test-clock.js';

/** Cluster time at the test's start; also the nodes' wall clock unless a test sets it. */
export const START = 1_700_000_000_000;

/** Time that stands still until a test moves it. Counts the timers that are set. */
export class FakeTime extends TestClock implements NodeClock {
  #wallOffset = START;

  constructor() {
    super(START);
  }

  wall = (): number => this.monotonic() + this.#wallOffset;

  jumpWall(by: number): void {
    this.#wallOffset += by;
  }

  /** Moves time without running a timer: a frozen process. */
  freeze(ms: number): void {
    this.moveTo(this.monotonic() + ms);
  }

  /** Moves time, running what falls due in order and letting promises settle in between. */
  async advance(ms: number): Promise<void> {
    const end = this.monotonic() + ms;
    await settled();
    while (this.nextDue <= end) {
      this.runNext();
      await settled();
    }
    this.moveTo(end);
    await settled();
  }
}

/** Lets everything happen that needs no time: promises, and those that they lead to. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
