import type { IQueue } from 'hazelcast-client';
import type { HintQueue } from '../../core/store/driver.js';
import { portionsOf } from '../../core/store/text-batches.js';
import { type Calls, oncePerSession, type PartOf } from './calls.js';
import { textIn, textOf } from './texts/foreign-value.js';

interface Hints {
  readonly queue: IQueue<unknown>;
  /** Aborts when the session ends. */
  readonly ended: AbortSignal;
}

/** Largest number of hints per call. */
const MOST_AT_ONCE = 1000;
/** Hints of a queue from which some are removed, at most: the member looks at all of them. */
const MOST_SEARCHED = 100_000;
/**
 * Longest wait of one call to the members, in ms. Shorter than the time after which the client takes a call for lost, and
 * than the time for which a poller that is frozen can take hints away.
 */
const LONGEST_WAIT = 5000;

/** Hints in an IQueue. All hints of a queue are kept by one member and its backups. */
export class HazelcastQueue implements HintQueue {
  readonly #hints: PartOf<Hints>;

  constructor(
    readonly name: string,
    private readonly calls: Calls,
  ) {
    this.#hints = oncePerSession(async ({ client, ended }) => ({ queue: await client.getQueue<unknown>(name), ended }));
  }

  offer(hints: readonly string[]): Promise<void> {
    return this.calls.writing(this.#hints, async ({ queue }) => {
      if (hints.length === 1) return void (await queue.offer(hints[0]));
      for (const some of portionsOf(hints, MOST_AT_ONCE)) await queue.addAll(some);
    });
  }

  async poll(patience: number, signal: AbortSignal): Promise<string | undefined> {
    const until = performance.now() + patience;
    let hint: string | undefined;
    let left = patience;
    do {
      if (signal.aborted) return undefined;
      hint = await this.#pollOnce(Math.min(left, LONGEST_WAIT), signal);
      left = until - performance.now();
    } while (hint === undefined && left > 0);
    return hint;
  }

  drain(most: number): Promise<string[]> {
    return this.calls.writing(this.#hints, async ({ queue }) => {
      const hints: unknown[] = [];
      if (most > 0) await queue.drainTo(hints, most);
      return hints.map(textOf);
    });
  }

  remove(hints: readonly string[]): Promise<void> {
    return this.calls.writing(this.#hints, async ({ queue }) => {
      if (hints.length === 0 || (await queue.size()) > MOST_SEARCHED) return;
      await Promise.all(hints.map((hint) => queue.remove(hint)));
    });
  }

  peek(): Promise<string | undefined> {
    return this.calls.reading(this.#hints, ({ queue }) => textIn(queue.peek()));
  }

  size(): Promise<number> {
    return this.calls.reading(this.#hints, ({ queue }) => queue.size());
  }

  #pollOnce(patience: number, signal: AbortSignal): Promise<string | undefined> {
    return this.calls.writing(this.#hints, async ({ queue, ended }) => {
      if (signal.aborted) return undefined;
      // A hint of another program becomes a text that is no hint. It has left the queue, so an error would be no help.
      const polled = textIn(queue.poll(Math.ceil(Math.max(patience, 0))));
      return unlessGivenUp(polled, { signal, ended, giveBack: (hint) => queue.offer(hint) });
    });
  }
}

interface Ends {
  readonly signal: AbortSignal;
  readonly ended: AbortSignal;
  readonly giveBack: (hint: string) => Promise<unknown>;
}

/**
 * Settles like the poll. Without a wait for it, resolves with undefined when the signal aborts, and rejects when the
 * session ends. A hint that arrives after that is given back, if the client still can.
 */
function unlessGivenUp(
  polled: Promise<string | undefined>,
  { signal, ended, giveBack }: Ends,
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let isGivenUp = false;
    const stop = () => {
      signal.removeEventListener('abort', giveUp);
      ended.removeEventListener('abort', fail);
    };
    const giveUp = () => (stop(), (isGivenUp = true), resolve(undefined));
    const fail = () => (stop(), (isGivenUp = true), reject(new Error('the connection ended during a poll')));
    signal.addEventListener('abort', giveUp);
    ended.addEventListener('abort', fail);
    polled.then(
      (hint) => {
        stop();
        if (isGivenUp && hint !== undefined) giveBack(hint).catch(() => undefined); // only a hint, so it may be lost
        resolve(hint);
      },
      (error: unknown) => (stop(), reject(error as Error)),
    );
  });
}
