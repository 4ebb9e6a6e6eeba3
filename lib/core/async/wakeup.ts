import type { CancelTimer, NodeClock } from './node-clock.js';

/** Ends the wait of one loop, by {@link ring} or after a time. A ring before the wait is not lost. */
export class Wakeup {
  #hasRung = false;
  #wake?: () => void;
  /** Starts the longest wait anew; undefined if there is none, or it has no limit. */
  #postpone?: (delay: number) => void;

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
      let cancel: CancelTimer | undefined;
      const wake = () => {
        cancel?.();
        this.#wake = this.#postpone = undefined;
        resolve();
      };
      const limit = (ms: number) => {
        cancel?.();
        cancel = this.nodeClock.schedule(wake, ms, isAwaited);
      };
      this.#wake = wake;
      if (delay === undefined) return;
      this.#postpone = limit;
      limit(delay);
    });
  }

  /** Lets a wait that has a limit last `delay` ms from now at most. An idle loop needs no wake-up then to wait again. */
  postpone(delay: number): void {
    this.#postpone?.(delay);
  }
}
