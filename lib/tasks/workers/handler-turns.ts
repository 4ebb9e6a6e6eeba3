import type { NodeClock } from '../../core/async/node-clock.js';

/** So many handlers run at once, and others wait for their turn, in order. */
export class HandlerTurns {
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(
    private readonly most: number,
    private readonly clock: NodeClock,
  ) {}

  /**
   * Waits for a turn. Call {@link leave} once after it.
   *
   * @param patience ms
   * @returns false if no turn came in this time
   */
  enter(patience: number): Promise<boolean> | true {
    if (this.#running < this.most) {
      this.#running++;
      return true;
    }
    return new Promise((resolve) => {
      const cancelTimer = this.clock.schedule(() => {
        this.#waiting.delete(begin);
        resolve(false);
      }, patience);
      const begin = () => {
        cancelTimer();
        resolve(true);
      };
      this.#waiting.add(begin);
    });
  }

  /** The turn goes to the one that has waited longest. */
  leave(): void {
    const [next] = this.#waiting;
    if (!next) return void this.#running--;
    this.#waiting.delete(next);
    next();
  }
}
