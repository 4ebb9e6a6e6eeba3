import type { CancelTimer, NodeClock } from './node-clock.js';

interface Entry {
  /** Monotonic ms. */
  readonly at: number;
  readonly ring: () => void;
}

/**
 * One timer for the deadlines of all calls that are under way. Nearly every call is answered long before its deadline:
 * a timer for each would be set and cleared for nothing, between the decision and the moment it is sent.
 */
export class Timers {
  readonly #entries = new Set<Entry>();
  #cancelTimer?: CancelTimer;
  #next = Infinity;

  constructor(readonly clock: NodeClock) {}

  /**
   * Calls `ring` at `at` (monotonic ms), or soon after.
   *
   * @returns a function that takes the call back
   */
  set(at: number, ring: () => void): () => void {
    const entry = { at, ring };
    this.#entries.add(entry);
    if (at < this.#next) this.#arm(at);
    return () => this.#entries.delete(entry);
  }

  /** Rings for all that still wait: nobody may wait for ever for a store that is closed. */
  close(): void {
    this.#cancelTimer?.();
    for (const { ring } of this.#entries) ring();
    this.#entries.clear();
  }

  #arm(at: number): void {
    this.#cancelTimer?.();
    this.#next = at;
    this.#cancelTimer = this.clock.schedule(() => this.#ring(), at - this.clock.monotonic());
  }

  #ring(): void {
    const now = this.clock.monotonic();
    this.#next = Infinity;
    for (const entry of this.#entries) {
      if (entry.at > now) continue;
      this.#entries.delete(entry);
      entry.ring();
    }
    const next = Math.min(...[...this.#entries].map(({ at }) => at), Infinity);
    if (next < this.#next) this.#arm(next);
  }
}
