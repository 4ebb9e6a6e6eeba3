import { Deadline, DeadlinePassed } from '../../../core/async/deadline.js';
import { ReportedCalls } from './reported-calls.js';

/** Timeout of a call in ms. Long, because an archive is used rarely and may be on a slow disk. */
const PATIENCE = 10_000;

interface CallOptions {
  /** Timeout in ms. Default 10 s. */
  readonly patience?: number;
  /** Whether the call is made even while an earlier one has no answer. Only for the last call, which closes the archive. */
  readonly isLast?: boolean;
}

/** Limits also the time of the calls: they go to an archive that users may have written. */
export class BoundedCalls extends ReportedCalls {
  /** A call timed out and may still end: no new call starts before that. */
  #hanging = false;

  override run<T>(action: string, call: () => Promise<T>, options?: CallOptions): Promise<T> {
    return super.run(action, () => this.#inTime(call, options));
  }

  /** As {@link run}, but returns undefined if the call fails: that was reported as an event, and is in `failures`. */
  override try<T>(action: string, call: () => Promise<T>, options?: CallOptions): Promise<T | undefined> {
    return this.run(action, call, options).catch(() => undefined);
  }

  async #inTime<T>(call: () => Promise<T>, { patience = PATIENCE, isLast = false }: CallOptions = {}): Promise<T> {
    if (this.#hanging && !isLast) throw new Error('an earlier call is still without an answer');
    const answer = call();
    try {
      return await new Deadline(this.context.timers, patience).race(answer);
    } catch (error) {
      if (!(error instanceof DeadlinePassed)) throw error;
      this.#hanging = true;
      const end = () => (this.#hanging = false);
      answer.then(end, end);
      throw new Error(`no answer within ${patience} ms`, { cause: error });
    }
  }
}
