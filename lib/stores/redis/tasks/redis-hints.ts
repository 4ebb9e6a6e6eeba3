import type { HintQueue } from '../../../core/store/task-storage.js';
import { type Calls, SHARED } from '../calls.js';
import { OFFER_HINTS, POLL_HINT, REMOVE_HINTS } from '../scripts.js';
import type { HintPolls } from './hint-polls.js';

export type { HintPolls } from './hint-polls.js';

/** Largest number of hints per call. */
const MOST_AT_ONCE = 500;

interface QueueParts {
  readonly keys: { readonly hints: string; readonly pollers: string };
  readonly calls: Calls;
  readonly polls: HintPolls;
}

/**
 * Hints in a list. A poller that finds none notes its client in a sorted set; who adds a hint takes one client out, and
 * wakes it with a message. So a hint wakes one client and not all, and no connection is blocked.
 */
export class RedisHints implements HintQueue {
  constructor(
    private readonly name: string,
    private readonly parts: QueueParts,
  ) {}

  async offer(hints: readonly string[]): Promise<void> {
    const { calls, polls } = this.parts;
    for (let at = 0; at < hints.length; at += MOST_AT_ONCE) {
      await calls.write(OFFER_HINTS, this.#keys, [
        ...polls.wakeArguments(this.name),
        ...hints.slice(at, at + MOST_AT_ONCE),
      ]);
    }
  }

  async poll(patience: number, signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted) return undefined;
    if (patience <= 0) return (await this.drain(1))[0];
    const until = performance.now() + patience;
    let hint: string | undefined;
    while (hint === undefined && !signal.aborted && performance.now() < until)
      hint = await this.#pollOnce(until, signal);
    return hint;
  }

  async drain(most: number): Promise<string[]> {
    if (most <= 0) return [];
    const { hints } = this.parts.keys;
    // A command that is repeated after a broken connection loses hints; they are only hints.
    const drained = await this.parts.calls.read(hints, ['lpop', hints, String(most)]);
    return ((drained ?? []) as string[]).map(String);
  }

  async remove(hints: readonly string[]): Promise<void> {
    const { calls } = this.parts;
    for (let at = 0; at < hints.length; at += SHARED.writes)
      await calls.write(REMOVE_HINTS, [this.parts.keys.hints], hints.slice(at, at + SHARED.writes));
  }

  async peek(): Promise<string | undefined> {
    const { hints } = this.parts.keys;
    const first = await this.parts.calls.read(hints, ['lindex', hints, '0']);
    return first === null ? undefined : String(first);
  }

  async size(): Promise<number> {
    const { hints } = this.parts.keys;
    return Number(await this.parts.calls.read(hints, ['llen', hints]));
  }

  get #keys(): [string, string] {
    return [this.parts.keys.hints, this.parts.keys.pollers];
  }

  /** Looks, and then waits for a message. @returns undefined after a message: the caller looks again */
  async #pollOnce(until: number, signal: AbortSignal): Promise<string | undefined> {
    const { polls } = this.parts;
    // Begins before the look, so that no message is missed in between.
    const wait = polls.begin(this.name, this.#keys, signal);
    try {
      await polls.listen();
      const hint = await this.#take();
      if (hint !== undefined) return await this.#unlessGivenUp(hint, signal);
      await wait.waitFor(until - performance.now());
      return undefined;
    } finally {
      wait.end();
    }
  }

  async #take(): Promise<string | undefined> {
    const { calls, polls } = this.parts;
    const hint = await calls.write(POLL_HINT, this.#keys, [polls.client]);
    return hint === null ? undefined : String(hint);
  }

  async #unlessGivenUp(hint: string, signal: AbortSignal): Promise<string | undefined> {
    if (!signal.aborted) return hint;
    await this.offer([hint]).catch(() => undefined); // only a hint, so it may be lost
    return undefined;
  }
}
