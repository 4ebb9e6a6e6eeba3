import type { Timers } from './timers.js';

/** Thrown by {@link Deadline.race}; callers map it to an error of their call. */
export class DeadlinePassed extends Error {}

/** The moment (in the node's monotonic ms) until which one call may ask the store. */
export class Deadline {
  readonly until: number;

  constructor(
    private readonly timers: Timers,
    readonly timeout: number,
  ) {
    this.until = timers.clock.monotonic() + timeout;
  }

  get remaining(): number {
    return this.until - this.timers.clock.monotonic();
  }

  /** Waits for `promise` until the deadline. A later answer is ignored, also a rejection. */
  race<T>(promise: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const cancel = this.timers.set(this.until, () => reject(new DeadlinePassed()));
      promise.then(
        (value) => (cancel(), resolve(value)),
        (error) => (cancel(), reject(error)),
      );
    });
  }

  /** Waits for `delay` ms, or until the deadline when that is earlier. */
  pause(delay: number): Promise<void> {
    const time = Math.min(delay, Math.max(0, this.remaining));
    return new Promise((resolve) => this.timers.clock.schedule(resolve, time, true));
  }
}
