import type { Timers } from './timers.js';

/** Thrown by {@link Deadline.race}; callers map it to an error of their call. */
export class DeadlinePassed extends Error {}

/** Whether an error is a passed deadline, or was caused by one. */
export function isLate(error: unknown): boolean {
  return error instanceof DeadlinePassed || (error instanceof Error && error.cause instanceof DeadlinePassed);
}

/** Always the same one: its stack would only name a timer, and took most of the time of a poll that ended without a hint. */
const PASSED = new DeadlinePassed();

/** The end of the time that one call may take. */
export class Deadline {
  /** In the node's monotonic ms. */
  readonly until: number;

  constructor(
    private readonly timers: Timers,
    /** ms */
    readonly timeout: number,
  ) {
    this.until = timers.clock.monotonic() + timeout;
  }

  /** ms; negative after the deadline. */
  get remaining(): number {
    return this.until - this.timers.clock.monotonic();
  }

  /**
   * Waits for `promise` until the deadline. A later answer is ignored, also a rejection.
   *
   * @param failure makes the error of a passed deadline. Not in a `catch` of the caller: that is one more promise per call
   * @throws DeadlinePassed, or the error of `promise`
   */
  race<T>(promise: Promise<T>, failure: (passed: DeadlinePassed) => Error = (passed) => passed): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const cancel = this.timers.set(this.until, () => reject(failure(PASSED)));
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
