import { type Backoff, pauseAfter } from '../async/backoff.js';
import { type Deadline, isLate } from '../async/deadline.js';
import type { Randomness } from '../async/random-ids.js';
import { type Notify, StoreUnavailableError, UnknownOutcomeError } from '../store/index.js';
import type { Plan, Write } from './plan.js';
import type { StoredRecord } from './record-codec.js';

/** A write that a call has sent, or is about to send. */
export interface Attempt<R extends StoredRecord, T> extends Pick<Write<R, T>, 'isDoneIn'> {
  readonly record: R;
  readonly text: string;
  readonly done: () => T;
  readonly notify: Notify;
  /** Whether its answer was lost. */
  isUncertain: boolean;
}

/** Rounds of clock readings that one call waits for: the one that ran when the lease was first seen, and two more. */
const MOST_SAMPLES = 3;

const CONTENTION: Backoff = { first: 4, longest: 200, jitter: 1 };

/** One call of a record's client: what it waits for, and what it has sent. */
export class RecordCall<R extends StoredRecord, T> {
  /** Writes that were sent, without those that the store surely did not get. */
  readonly attempts: Attempt<R, T>[] = [];
  /** Whether this call decides only from the record as it reads it, and no more from the text last seen. */
  isRead = false;
  /** Whether a text may have been replaced for an operator, although no attempt tells of it. */
  mayHaveReplaced = false;
  #samples = 0;

  /** @param subject the record, for errors */
  constructor(
    readonly plan: Plan<R, T>,
    readonly deadline: Deadline,
    private readonly subject: () => string,
  ) {}

  get #hasSent(): boolean {
    return this.mayHaveReplaced || this.attempts.length > 0;
  }

  /** Whether the call has time for another round of clock readings. Counts the round. */
  takeSample(): boolean {
    return this.#samples++ < MOST_SAMPLES && this.deadline.remaining > this.deadline.timeout / 2;
  }

  /**
   * Asks the store, which keeps the deadline of this call.
   *
   * @throws the error of the question, or {@link unanswered}
   */
  async ask<A>(question: () => Promise<A>): Promise<A> {
    if (this.deadline.remaining <= 0) throw this.unanswered();
    try {
      return await question();
    } catch (error) {
      throw isLate(error) ? this.unanswered(error) : this.refused(error);
    }
  }

  /** The error of a call that the store refuses to answer: the store's, or {@link unanswered} if a write was sent before. */
  refused(error: unknown): unknown {
    return this.#hasSent ? this.unanswered(error) : error;
  }

  /** Notes that an attempt failed. It stays in the call if it may be applied, now or later. @throws if the call can't go on */
  failed(attempt: Attempt<R, T>, error: unknown): void {
    attempt.isUncertain = !(error instanceof StoreUnavailableError);
    if (attempt.isUncertain && isLate(error)) throw this.unanswered(error);
    if (attempt.isUncertain) return;
    this.attempts.pop();
    throw this.refused(error);
  }

  /** The error of a call without a clear answer. If a write was sent, it may still change the record. */
  unanswered(cause?: unknown): Error {
    const what = `${this.subject()}: the store gave no clear answer within ${this.deadline.timeout} ms`;
    if (!this.#hasSent) return new StoreUnavailableError(what, { cause });
    return new UnknownOutcomeError(`${what}, and a write may have been applied`, { cause });
  }

  /** No pause before the second try. Later pauses are jittered, so that nodes that collided don't collide again. */
  async backOff(tries: number, random: Randomness): Promise<void> {
    if (tries > 1) await this.deadline.pause(pauseAfter(tries, random.number(), CONTENTION));
  }
}
