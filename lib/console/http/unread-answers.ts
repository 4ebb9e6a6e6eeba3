import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { show } from '../../core/decision/index.js';
import { onceClosed } from './once-closed.js';
import { ProblemError } from '../api/problem.error.js';

/** Maximum number of heavy answers of one token that its readers have not taken yet. Each may need some 5 MB until then. */
const MOST_EACH = 16;
/** ms after which a reader that took nothing is disconnected. */
const PATIENCE = 30_000;

/**
 * Heavy answers that are made, and on the way to their readers. Limits their number, and ends those whose readers take
 * nothing. Otherwise a few hundred clients that send requests and never read could fill the memory of the application.
 */
@Injectable()
export class UnreadAnswers {
  /** By name of the token. */
  readonly #counts = new Map<string, number>();

  /** @throws ProblemError if the readers of this token are too far behind to make another answer */
  expectRoom(user: string): void {
    if (this.#countOf(user) >= MOST_EACH) throw new ProblemError('too-many-waits', TOO_MANY(user), { retryAfter: 1 });
  }

  /** Call this with each answer that is made, before it is sent. */
  add(user: string, response: ServerResponse, patience = PATIENCE): void {
    this.#counts.set(user, this.#countOf(user) + 1);
    // It counts from the last progress, so a slow reader gets all of its answer.
    response.setTimeout(patience, () => response.destroy());
    onceClosed(response, () => this.#closed(user));
  }

  #countOf(user: string): number {
    return this.#counts.get(user) ?? 0;
  }

  #closed(user: string): void {
    const left = this.#countOf(user) - 1;
    if (left > 0) this.#counts.set(user, left);
    else this.#counts.delete(user);
  }
}

const TOO_MANY = (user: string) =>
  `${MOST_EACH} large answers of this node to ${show(user)} are not read yet: read them first, or ask another node`;
