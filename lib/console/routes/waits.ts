import { show } from '../../decision/index.js';
import { ProblemError } from '../http/problem.error.js';

/** Requests of one token that wait for permits at one time. Each one holds a connection and asks repeatedly. */
const MOST_EACH = 100;

/** Counts the requests that wait, by the name of their token. */
export class Waits {
  readonly #waiting = new Map<string, number>();

  /** @throws ProblemError when too many of the same token wait already */
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
  `${MOST_EACH} requests of ${show(user)} wait on this node already: ask without wait, use another token, or another node`;
