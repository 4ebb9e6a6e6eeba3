import type { NodeClock } from '../clock/index.js';
import { StoreUnavailableError } from '../stores/index.js';

/** Raised by {@link Deadline.race}; callers turn it into what the unanswered call means. */
export class DeadlinePassed extends Error {}

/** The moment (in the node's monotonic ms) until which one call may ask the store. */
export class Deadline {
  readonly until: number;

  constructor(
    private readonly clock: NodeClock,
    readonly timeout: number,
  ) {
    this.until = clock.monotonic() + timeout;
  }

  get remaining(): number {
    return this.until - this.clock.monotonic();
  }

  /** Waits for `promise` until the deadline. What comes later is ignored, but never an unhandled rejection. */
  race<T>(promise: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const cancel = this.clock.schedule(() => reject(new DeadlinePassed()), this.remaining, true);
      promise.then(
        (value) => (cancel(), resolve(value)),
        (error) => (cancel(), reject(error)),
      );
    });
  }

  /** Waits for `delay` ms, or until the deadline when that is earlier. */
  pause(delay: number): Promise<void> {
    return new Promise((resolve) => this.clock.schedule(resolve, Math.min(delay, Math.max(0, this.remaining)), true));
  }
}

/**
 * One reading call with a deadline of its own.
 *
 * @param timeout ms
 * @param what names the call in the error: "list the records"
 * @throws StoreUnavailableError when no answer came in time
 */
export async function answerWithin<T>(
  clock: NodeClock,
  timeout: number,
  what: string,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await new Deadline(clock, timeout).race(call());
  } catch (cause) {
    if (!(cause instanceof DeadlinePassed)) throw cause;
    throw new StoreUnavailableError(`the store did not ${what} within ${timeout} ms`, { cause });
  }
}
