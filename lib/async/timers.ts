import type { NodeClock } from './node-clock.js';

/**
 * The deadlines of the calls of one gatekeeper. Each has its own timer. {@link close} ends all of them, so that no call
 * waits for ever for a closed store.
 */
export class Timers {
  readonly #waiting = new Set<() => void>();

  constructor(readonly clock: NodeClock) {}

  /**
   * Calls `ring` at the time `at` (monotonic ms), or earlier at {@link close}.
   *
   * @returns a function that cancels the call
   */
  set(at: number, ring: () => void): () => void {
    const cancel = () => {
      cancelTimer();
      this.#waiting.delete(end);
    };
    const end = () => {
      cancel();
      ring();
    };
    const cancelTimer = this.clock.schedule(end, at - this.clock.monotonic());
    this.#waiting.add(end);
    return cancel;
  }

  /** Ends all deadlines at once. */
  close(): void {
    for (const end of this.#waiting) end();
  }
}
