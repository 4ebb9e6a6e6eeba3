import { show } from '../../core/decision/index.js';
import { ProblemError } from '../api/problem.error.js';

/** Maximum number of requests of one token that wait at the same time. Each has a connection and asks repeatedly. */
const MOST_EACH = 100;

/** Counts waiting requests, by the name of their token. */
export class Waits {
  readonly #waiting = new Map<string, number>();

  /**
   * Waits, unless too many requests of the same token wait already.
   *
   * @throws ProblemError if so, or the error of `wait`
   */
  async during<T>(user: string, wait: () => Promise<T>): Promise<T> {
    const waiting = this.#waiting.get(user) ?? 0;
    if (waiting >= MOST_EACH) throw new ProblemError('too-many-waits', TOO_MANY(user), { retryAfter: 1 });
    this.#waiting.set(user, waiting + 1);
    try {
      return await wait();
    } finally {
      const left = this.#waiting.get(user)! - 1;
      if (left > 0) this.#waiting.set(user, left);
      else this.#waiting.delete(user);
    }
  }
}

const TOO_MANY = (user: string) =>
  `${MOST_EACH} requests of ${show(user)} wait on this node already: ask without wait, or use another token or node`;
