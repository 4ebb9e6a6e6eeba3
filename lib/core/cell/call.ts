import { type Backoff, pauseAfter } from '../async/backoff.js';
import { type Deadline, isLate } from '../async/deadline.js';
import type { Randomness } from '../async/random-ids.js';
import { StoreUnavailableError, UnknownOutcomeError } from '../store/index.js';

/** A write that a call has sent, or is about to send. */
export interface SentWrite {
  /** Whether its answer was lost. */
  isUncertain: boolean;
}

/** Whether a write that failed may be applied, now or later. Only one error says that it surely is not. */
export function isUnclear(error: unknown): boolean {
  return !(error instanceof StoreUnavailableError);
}

/**
 * Sends a write once, without a look after it: for a writer that reads and decides anew in any case, as at its next look.
 *
 * @param onUnclear called if the write may have been applied, or may still be applied
 * @returns whether it was surely applied
 * @throws StoreUnavailableError if it was surely not applied
 */
export async function writeOnce(
  write: () => Promise<boolean>,
  onUnclear: (error: unknown) => void = () => undefined,
): Promise<boolean> {
  try {
    return await write();
  } catch (error) {
    if (!isUnclear(error)) throw error;
    onUnclear(error);
    return false;
  }
}

const CONTENTION: Backoff = { first: 4, longest: 200, jitter: 1 };

/**
 * One call that changes a cell: its time, the writes that it has sent, and the errors by which it may end. All loops of
 * compare-and-set keep these rules here: those of {@link Cell}, which remembers its text, and of {@link TextCells}, which do not.
 *
 * ```
 *   write ─▶ true: done
 *     │ ─▶ surely not applied, and no write of this call was sent before: the store's error
 *     │ ─▶ no clear answer: the write stays in the call; it may be applied, now or later
 *     ▼
 *   look, again and again while the store can't be reached ─▶ the write is there: done
 *     │                                                    ─▶ the time is over: UnknownOutcomeError
 *     └──▶ write again, from what was found
 * ```
 */
export class Call<A extends SentWrite = SentWrite> {
  /** Writes that were sent, without those that the store surely did not get. */
  readonly sentWrites: A[] = [];
  /** Whether `repair` may have replaced the text: it stands in no list of writes. */
  mayHaveReplaced = false;
  /** Tries that ended without success, of any kind: a write that is refused leaves nothing, and still counts here. */
  #tries = 0;
  #hasMissedLook = false;
  /** The last error of the store, for the error of this call. */
  #last: unknown;

  /**
   * @param deadline for all its writes. The caller may set a new one for each, if a long time may pass between them
   * @param subject the cell, for errors
   */
  constructor(
    public deadline: Deadline,
    private readonly random: Pick<Randomness, 'number'>,
    private readonly subject: () => string,
  ) {}

  /**
   * Whether the outcome of a write of this call is unknown. Also after a `false` that no look followed at once: it may be
   * wrong, and others had time to write since.
   */
  get isUncertain(): boolean {
    return this.#hasMissedLook || this.sentWrites.some(({ isUncertain }) => isUncertain);
  }

  /** Whether something was sent that may be applied. */
  get hasSent(): boolean {
    return this.mayHaveReplaced || this.sentWrites.length > 0;
  }

  /**
   * Asks the store, which keeps the deadline of this call. After a write was sent, it asks again while the store can't be
   * reached (StoreUnavailableError): only an answer tells what became of the write.
   *
   * @throws the error of the question, or {@link unanswered}
   */
  async ask<T>(question: () => Promise<T>): Promise<T> {
    for (;;) {
      if (this.deadline.remaining <= 0) throw this.unanswered();
      try {
        return await question();
      } catch (error) {
        this.#last = error;
        if (isLate(error)) throw this.unanswered();
        if (!this.hasSent || !(error instanceof StoreUnavailableError)) throw this.refused(error);
      }
      this.#hasMissedLook = true;
      await this.backOff();
    }
  }

  /** The error of a call that the store refuses to answer: the store's, or {@link unanswered} if a write was sent before. */
  refused(error: unknown): unknown {
    this.#last = error;
    return this.hasSent ? this.unanswered() : error;
  }

  /**
   * Notes that a write failed. It stays in the call if it may be applied, now or later.
   *
   * @throws if the call can't go on: surely nothing was sent, or the time is over
   */
  failed(sent: A, error: unknown): void {
    this.#last = error;
    sent.isUncertain = isUnclear(error);
    if (sent.isUncertain && isLate(error)) throw this.unanswered();
    if (sent.isUncertain) return;
    this.sentWrites.pop();
    if (!this.hasSent) throw error;
  }

  /** Notes that a look has found another text: no write of this call was applied, except for one whose outcome is unknown. */
  lost(): void {
    if (!this.isUncertain) this.sentWrites.length = 0;
  }

  /** The error of a call without a clear answer. If a write was sent, it may still change the record. */
  unanswered(): Error {
    const cause = this.#last;
    const what = `${this.subject()}: the store gave no clear answer within ${this.deadline.timeout} ms`;
    if (!this.hasSent) return new StoreUnavailableError(what, { cause });
    return new UnknownOutcomeError(`${what}, and a write may have been applied`, { cause });
  }

  /**
   * Call it before each further try. No pause before the second one. Later pauses are jittered, so that nodes that collided
   * don't collide again.
   *
   * @returns whether it paused: others may have written meanwhile
   */
  async backOff(): Promise<boolean> {
    if (++this.#tries <= 1) return false;
    await this.deadline.pause(pauseAfter(this.#tries, this.random.number(), CONTENTION));
    return true;
  }
}
