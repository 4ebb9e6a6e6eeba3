import type { CancelTimer, NodeClock } from './node-clock.js';

interface Wait {
  /** Monotonic ms. */
  readonly at: number;
  readonly ring: () => void;
  /** Index in the heap, or {@link DUE}; undefined after its end. */
  place: number | undefined;
}

/** The place of one that is about to ring. */
const DUE = -1;

/**
 * The deadlines of the calls of one gatekeeper, on one timer: nearly all of them are cancelled, and a timer for each would
 * be waste. {@link close} ends all of them, so that no call waits for ever for a closed store.
 */
export class Timers {
  /**
   * A heap: those at 2n + 1 and 2n + 2 are not due before the one at n. Not a Set: V8 gives a Set that is filled and emptied
   * all the time one table after another, and a dead table in old space keeps the next one, and so the calls in it, until
   * the next full collection.
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
    // A timer may be early by a millisecond.
    const due = Math.max(this.#firesAt, this.clock.monotonic());
    this.#stop();
    const waits: Wait[] = [];
    for (let [first] = this.#waits; first && first.at <= due; [first] = this.#waits) {
      this.#remove(first);
      first.place = DUE;
      waits.push(first);
    }
    const [next] = this.#waits;
    if (next) this.#fireAt(next.at);
    for (const wait of waits) this.#ring(wait);
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
    wait.place = undefined;
    if (place === undefined || place === DUE) return place === DUE;
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
