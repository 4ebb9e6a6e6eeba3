import { Deadline, DeadlinePassed } from '../core/async/deadline.js';
import type { Timers } from '../core/async/timers.js';
import { Slices } from '../core/async/slices.js';
import { answerWithin } from '../core/store/answer-within.js';
import { type HintQueue, type TaskStorage, type TextEntry, UnknownOutcomeError } from '../core/store/index.js';
import { FIRST_BATCH, behindText, batchAfter, batchesOf } from './batches.js';

/**
 * Ranges and queues of a storage, with a time limit for each call. {@link ConditionalTexts} limits the other calls. Many
 * large texts come in batches, each in a turn of the event loop.
 */
export class TimedStorage {
  readonly #slices: Slices;

  /** @param callTimeout ms */
  constructor(
    private readonly storage: TaskStorage,
    private readonly timers: Timers,
    private readonly callTimeout: number,
  ) {
    this.#slices = Slices.of(timers.clock);
  }

  /** @param batch texts of the first read @throws StoreUnavailableError */
  async range(from: string, to: string, limit: number, batch = FIRST_BATCH): Promise<TextEntry[]> {
    const rows: TextEntry[] = [];
    for (let [begin, most] = [from, Math.min(batch, limit)]; ;) {
      const found = await this.#answer('list tasks', () => this.storage.tasks.range(begin, to, most));
      rows.push(...found);
      if (found.length < most || rows.length >= limit) return rows;
      begin = behindText(found.at(-1)!.text);
      most = Math.min(batchAfter(found.map(({ text }) => text)), limit - rows.length);
    }
  }

  queue(name: string): HintQueue {
    const queue = this.storage.queue(name);
    return {
      offer: (hints) => this.#inBatches(hints, (batch) => this.#offerAtOnce(queue, batch)),
      remove: (hints) => this.#inBatches(hints, (batch) => this.#answer('remove hints', () => queue.remove(batch))),
      drain: (most) => this.#answer('give hints', () => queue.drain(most)),
      peek: () => this.#answer('give a hint', () => queue.peek()),
      size: () => this.#answer('count hints', () => queue.size()),
      poll: (patience, signal) => this.#poll(queue, patience, signal),
    };
  }

  /** A poll that is given up must end. Otherwise it takes a hint later, and no node acts on it. */
  async #poll(queue: HintQueue, patience: number, signal: AbortSignal): Promise<string | undefined> {
    const givenUp = new AbortController();
    // Not AbortSignal.any(): with a signal that lives as long as the node, its results are never freed.
    const giveUp = () => givenUp.abort(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    const ended = new Promise<undefined>((resolve) =>
      givenUp.signal.addEventListener('abort', () => resolve(undefined)),
    );
    try {
      const call = queue.poll(patience, givenUp.signal);
      return await new Deadline(this.timers, patience + this.callTimeout).race(Promise.race([call, ended]));
    } catch (cause) {
      if (!(cause instanceof DeadlinePassed)) throw cause;
      givenUp.abort(cause);
      return undefined;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  async #inBatches(hints: readonly string[], send: (batch: readonly string[]) => Promise<void>): Promise<void> {
    for (const batch of batchesOf(hints)) {
      await send(batch);
      await this.#slices.turn();
    }
  }

  /** A hint that was sent may still arrive. */
  async #offerAtOnce(queue: HintQueue, hints: readonly string[]): Promise<void> {
    try {
      await new Deadline(this.timers, this.callTimeout).race(queue.offer(hints));
    } catch (cause) {
      if (!(cause instanceof DeadlinePassed)) throw cause;
      throw new UnknownOutcomeError(`the store did not take a hint within ${this.callTimeout} ms`, { cause });
    }
  }

  async #answer<T>(what: string, call: () => Promise<T>): Promise<T> {
    const answer = await answerWithin(this.timers, this.callTimeout, what, call);
    await this.#slices.turn();
    return answer;
  }
}
