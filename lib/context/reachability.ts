import type { Subject } from 'rxjs';
import type { NodeClock } from '../async/node-clock.js';
import type { GatekeeperEvent } from './events.js';

/** Whether the store answers; reported once at each change. */
export class Reachability {
  #isLost = false;
  #wasReached = false;
  #since?: number;

  /** @param patience ms that the first connection may take without a warning */
  constructor(
    private readonly events: Subject<GatekeeperEvent>,
    private readonly nodeClock: NodeClock,
    private readonly patience: number,
  ) {}

  lost(error: Error): void {
    this.#since ??= this.nodeClock.monotonic();
    // In a normal start the first cron methods may tick before the connection is there.
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
