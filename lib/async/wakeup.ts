import type { NodeClock } from './node-clock.js';

/** Wakes one who waits: by ringing, or when a time is over. What rang before the wait began is not missed. */
export class Wakeup {
  #hasRung = false;
  #wake?: () => void;

  constructor(private readonly nodeClock: NodeClock) {}

  readonly ring = (): void => {
    this.#hasRung = true;
    this.#wake?.();
  };

  /** What rings from now on counts. */
  reset(): void {
    this.#hasRung = false;
  }

  /** Until it rings, for `delay` ms at most; at once when it has rung since the last {@link reset}. */
  wait(delay: number): Promise<void> {
    if (this.#hasRung) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        this.#wake = undefined;
        resolve();
      };
      const cancel = this.nodeClock.schedule(wake, delay, true);
      this.#wake = wake;
    });
  }
}
