import type { NodeClock } from './node-clock.js';

/**
 * The deadlines that calls of one gatekeeper wait for. Each has its own timer. {@link close} ends all of them, so that no
 * call waits for ever for a closed store.
 */
export class Timers {
  readonly #waiting = new Set<() => void>();

  constructor(readonly clock: NodeClock) {}

  /**
   * Calls `ring` at `at` (monotonic ms), or when this is closed.
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

  close(): void {
    for (const end of this.#waiting) end();
  }
}
