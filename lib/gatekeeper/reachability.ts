import type { Subject } from 'rxjs';
import type { GatekeeperEvent } from './events.js';

/** Whether the store answers, told once at each change. */
export class Reachability {
  #isLost = false;

  constructor(private readonly events: Subject<GatekeeperEvent>) {}

  lost(error: Error): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.events.next({ type: 'store-lost', error });
  }

  back(): void {
    if (!this.#isLost) return;
    this.#isLost = false;
    this.events.next({ type: 'store-back' });
  }
}
