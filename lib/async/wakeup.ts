import type { NodeClock } from './node-clock.js';

/** Ends the wait of one loop, by {@link ring} or after a time. A ring before the wait is not lost. */
export class Wakeup {
  #hasRung = false;
  #wake?: () => void;

  constructor(private readonly nodeClock: NodeClock) {}

  readonly ring = (): void => {
    this.#hasRung = true;
    this.#wake?.();
  };

  /** Forgets earlier rings. */
  reset(): void {
    this.#hasRung = false;
  }

  /**
   * Waits for {@link ring}. Returns at once if it was called since the last {@link reset}.
   *
   * @param delay longest wait in ms. Default: no limit
   * @param isAwaited whether a call waits for it, so that the process stays alive. False for work in the background
   */
  wait(delay?: number, isAwaited = true): Promise<void> {
    if (this.#hasRung) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        cancel?.();
        this.#wake = undefined;
        resolve();
      };
      const cancel = delay === undefined ? undefined : this.nodeClock.schedule(wake, delay, isAwaited);
      this.#wake = wake;
    });
  }
}
