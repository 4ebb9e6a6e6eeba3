import type { RegistryView } from './registry-view.js';

/** Waits until joins and leaves have ended, so that a rolling deploy does not move resources again and again. */
export class Settling {
  #participants = '';
  #since = 0;

  constructor(
    /** ms without joins and leaves. */
    private readonly delay: number,
  ) {}

  /** ms until resources may move for balance; 0 or less: now. @param now the node's monotonic ms */
  timeLeft({ living }: RegistryView, now: number): number {
    const participants = [...living.keys()].toSorted().join();
    if (participants !== this.#participants) {
      this.#participants = participants;
      this.#since = now;
    }
    return this.#since + this.delay - now;
  }
}
