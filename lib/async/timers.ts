import type { CancelTimer, NodeClock } from './node-clock.js';

interface Wait {
  /** Monotonic ms. */
  readonly at: number;
  readonly ring: () => void;
  /** Index in the list; undefined after its end. */
  place: number | undefined;
}

/** ms. Node's timers fire early by less than this, and clocks have fractions. */
const GRAIN = 1;

/**
 * The deadlines of the calls of one gatekeeper, on one timer: nearly all of them are cancelled, and a timer for each would
 * be waste. {@link close} ends all of them, so that no call waits for ever for a closed store.
 */
export class Timers {
  /**
   * Not a Set: V8 gives a Set that is filled and emptied all the time one table after another, and a dead table in old
   * space keeps the next one, and so the calls in it, until the next full collection.
   */
  readonly #waits: Wait[] = [];
  /** When the timer fires. It may be early, because waits are cancelled without setting it again. */
  #firesAt = Infinity;
  #cancelTimer: CancelTimer | undefined;

  constructor(readonly clock: NodeClock) {}

  /**
   * Calls `ring` at the time `at` (monotonic ms), or earlier at {@link close}.
   *
   * @returns a function that cancels the call
   */
  set(at: number, ring: () => void): CancelTimer {
    const wait: Wait = { at, ring, place: this.#waits.length };
    this.#waits.push(wait);
    if (at < this.#firesAt) this.#fireAt(at);
    return () => void this.#remove(wait);
  }

  /** Ends all deadlines at once. */
  close(): void {
    this.#ringAll([...this.#waits]);
  }

  #fireAt(at: number): void {
    this.#cancelTimer?.();
    this.#firesAt = at;
    this.#cancelTimer = this.clock.schedule(this.#fire, at - this.clock.monotonic());
  }

  #fire = (): void => {
    this.#stop();
    const due = this.clock.monotonic() + GRAIN;
    this.#ringAll(this.#waits.filter(({ at }) => at < due));
    const next = this.#waits.reduce((first, { at }) => Math.min(first, at), Infinity);
    if (next < this.#firesAt) this.#fireAt(next);
  };

  #stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#firesAt = Infinity;
  }

  /** One of them may cancel another one. */
  #ringAll(waits: readonly Wait[]): void {
    for (const wait of waits) if (this.#remove(wait)) wait.ring();
  }

  /** The last one takes its place: the order does not matter. @returns false if it has ended before */
  #remove(wait: Wait): boolean {
    if (wait.place === undefined) return false;
    const last = this.#waits.pop()!;
    if (last !== wait) {
      this.#waits[wait.place] = last;
      last.place = wait.place;
    }
    wait.place = undefined;
    if (this.#waits.length === 0) this.#stop();
    return true;
  }
}
