import { Wakeup } from '../core/async/wakeup.js';
import type { NodeClock } from '../core/async/node-clock.js';

/** ms for which others go first. A waiting node that missed all hints looks again sooner. */
export const COOLDOWN = 6000;
/** ms between two looks of a resting node. */
const LOOK = 500;

/** The time after a term in which a node lets others go first. */
export class Cooldown {
  /** Whether this node rests now. */
  isOn = false;
  readonly #bell: Wakeup;

  /**
   * @param look asks who leads: a grant sends no hint
   * @param isCalled whether this node must not rest: it closes, or the next term is kept for it
   */
  constructor(
    private readonly nodeClock: NodeClock,
    private readonly look: () => Promise<unknown>,
    private readonly isCalled: () => boolean,
  ) {
    this.#bell = new Wakeup(nodeClock);
  }

  async take(ms: number): Promise<void> {
    const until = this.nodeClock.monotonic() + ms;
    this.#bell.reset();
    this.isOn = true;
    for (let left = ms; left > 0 && !this.isCalled(); left = until - this.nodeClock.monotonic()) {
      await this.#bell.wait(Math.min(LOOK, left));
      // The next wait for the permit meets the same error, and handles it.
      await this.look().catch(() => undefined);
    }
    this.isOn = false;
  }

  /** Call this when `isCalled` may be true. */
  check(): void {
    if (this.isCalled()) this.#bell.ring();
  }
}
