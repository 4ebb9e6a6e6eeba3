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
   * A heap: none is due before the one at half its index, which is the first one of all at 0. Not a Set: V8 gives a Set that
   * is filled and emptied all the time one table after another, and a dead table in old space keeps the next one, and so
   * the calls in it, until the next full collection.
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
    this.#moveUp(wait, wait.place!);
    if (at < this.#firesAt) this.#fireAt(at);
    return () => void this.#remove(wait);
  }

  /** Ends all deadlines at once. */
  close(): void {
    for (const wait of this.#waits.slice()) this.#ring(wait);
  }

  #fireAt(at: number): void {
    this.#cancelTimer?.();
    this.#firesAt = at;
    this.#cancelTimer = this.clock.schedule(this.#fire, at - this.clock.monotonic());
  }

  #fire = (): void => {
    this.#stop();
    const due = this.clock.monotonic() + GRAIN;
    // One that is set meanwhile comes later, even if it is due at once.
    for (let left = this.#waits.length; left > 0 && this.#waits[0] && this.#waits[0].at < due; left--) {
      this.#ring(this.#waits[0]);
    }
    const [first] = this.#waits;
    if (first && first.at < this.#firesAt) this.#fireAt(first.at);
  };

  #stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#firesAt = Infinity;
  }

  /** Not one that another one has just cancelled. */
  #ring(wait: Wait): void {
    if (this.#remove(wait)) wait.ring();
  }

  /** @returns false if it has ended before */
  #remove(wait: Wait): boolean {
    const { place } = wait;
    if (place === undefined) return false;
    wait.place = undefined;
    const last = this.#waits.pop()!;
    if (last !== wait) this.#moveDown(last, this.#moveUp(last, place));
    if (this.#waits.length === 0) this.#stop();
    return true;
  }

  /** @returns its place */
  #moveUp(wait: Wait, from: number): number {
    let place = from;
    while (place > 0) {
      const above = this.#waits[(place - 1) >> 1]!;
      if (above.at <= wait.at) break;
      this.#put(above, place);
      place = (place - 1) >> 1;
    }
    this.#put(wait, place);
    return place;
  }

  #moveDown(wait: Wait, from: number): void {
    const { length } = this.#waits;
    let place = from;
    for (let below = 2 * place + 1; below < length; below = 2 * place + 1) {
      const other = below + 1;
      if (other < length && this.#waits[other]!.at < this.#waits[below]!.at) below = other;
      if (wait.at <= this.#waits[below]!.at) break;
      this.#put(this.#waits[below]!, place);
      place = below;
    }
    this.#put(wait, place);
  }

  #put(wait: Wait, place: number): void {
    this.#waits[place] = wait;
    wait.place = place;
  }
}
