import { Injectable } from '@nestjs/common';
import { show } from '../../core/decision/index.js';
import { ProblemError } from '../api/problem.error.js';

/** Number of heavy answers that are made at the same time. Each may need some 10 MB until it is made. */
const MOST_AT_ONCE = 4;
/** Maximum number of requests of one token that wait for their turn. */
const MOST_WAITING_EACH = 100;

interface Waiting {
  readonly user: string;
  readonly begin: () => void;
}

/**
 * Makes only a few heavy answers at the same time, in the order of their requests. Otherwise some dozens of requests of
 * the role `view` could fill the memory of the application.
 */
@Injectable()
export class HeavyAnswers {
  #making = 0;
  readonly #waiting: Waiting[] = [];

  /**
   * @param signal aborts when the client has gone: then its request waits no longer, and nothing is made
   * @throws ProblemError if too many requests of the same token wait already, the error of `make`, or the signal's reason
   */
  async during<T>(user: string, make: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#turn(user, signal);
    try {
      return await make();
    } finally {
      // The next one takes over the place.
      const next = this.#waiting.shift();
      if (next) next.begin();
      else this.#making--;
    }
  }

  async #turn(user: string, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#making < MOST_AT_ONCE) return void this.#making++;
    const waiting = this.#waiting.filter((each) => each.user === user).length;
    if (waiting >= MOST_WAITING_EACH) throw new ProblemError('too-many-waits', TOO_MANY(user), { retryAfter: 1 });
    await new Promise<void>((begin, fail) => {
      const place = { user, begin };
      this.#waiting.push(place);
      signal?.addEventListener('abort', () => this.#leave(place) && fail(signal.reason as Error), { once: true });
    });
  }

  /** @returns false if it was its turn already */
  #leave(place: Waiting): boolean {
    const index = this.#waiting.indexOf(place);
    if (index >= 0) this.#waiting.splice(index, 1);
    return index >= 0;
  }
}

const TOO_MANY = (user: string) =>
  `${MOST_WAITING_EACH} requests of ${show(user)} for large answers wait on this node already: repeat it later, or ask another node`;
