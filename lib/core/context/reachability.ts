import type { Subject } from 'rxjs';
import type { NodeClock } from '../async/node-clock.js';
import type { GatekeeperEvent } from './events.js';

/** Tracks whether the store answers, and reports each change once. */
export class Reachability {
  #isLost = false;
  #wasReached = false;
  #since?: number;

  /** @param patience ms until a missing first connection is reported */
  constructor(
    private readonly events: Subject<GatekeeperEvent>,
    private readonly nodeClock: NodeClock,
    private readonly patience: number,
  ) {}

  lost(error: Error): void {
    this.#since ??= this.nodeClock.monotonic();
    // In a normal start the first cron methods may tick before the connection is open.
    const isStarting = !this.#wasReached && this.nodeClock.monotonic() - this.#since < this.patience;
    if (this.#isLost || isStarting) return;
    this.#isLost = true;
    this.events.next({ type: 'store-lost', error });
  }

  back(): void {
    this.#wasReached = true;
    if (!this.#isLost) return;
    this.#isLost = false;
    this.events.next({ type: 'store-back' });
  }
}
