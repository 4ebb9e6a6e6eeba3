import type { NodeClock } from '../../lib/core/async/node-clock.js';
import type { FakeTime } from './fake-time.js';

/** The clock of one node that can be frozen: its timers wait until it wakes, while the time of the others goes on. */
export class Sleeper implements NodeClock {
  #due?: Set<() => void> | undefined;

  constructor(protected readonly time: FakeTime) {}

  monotonic = (): number => this.time.monotonic();
  wall = (): number => this.time.wall();
  nextTurn = (action: () => void): void => this.time.nextTurn(action);

  schedule = (action: () => void, delay: number): (() => void) => {
    const run = () => (this.#due ? void this.#due.add(action) : action());
    const cancel = this.time.schedule(run, delay);
    return () => {
      cancel();
      this.#due?.delete(action);
    };
  };

  freeze(): void {
    this.#due = new Set();
  }

  wake(): void {
    const due = this.#due ?? [];
    this.#due = undefined;
    for (const action of due) action();
  }
}
