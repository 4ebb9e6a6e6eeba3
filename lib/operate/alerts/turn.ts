import type { Context } from '../../core/context/context.js';
import { SweepPermit } from '../../core/permits/sweep-permit.js';

/** Lets one node of the cluster report troubles that several nodes see, as a permit of a hidden semaphore. */
export class Turn {
  readonly #permit: SweepPermit;
  #askedAt = -Infinity;
  #answer: boolean | undefined;

  /**
   * @param kind name of the troubles that share this turn
   * @param interval ms between two requests for the permit, which lasts 2.5 times as long
   */
  constructor(
    private readonly context: Context,
    kind: string,
    private readonly interval: number,
  ) {
    this.#permit = new SweepPermit(context, interval, `gatekeeper:alerts:${kind}`);
  }

  /** @returns whether it is this node's turn; undefined if the store can't be asked */
  async take(): Promise<boolean | undefined> {
    const now = this.context.nodeClock.monotonic();
    if (now - this.#askedAt >= this.interval) {
      this.#askedAt = now;
      // The health reports a store that can't be asked.
      this.#answer = await this.#permit.take().catch(() => undefined);
    }
    return this.#permit.isHeld || (this.#answer ? undefined : this.#answer);
  }

  /** Lets another node take the turn at once. */
  close(): Promise<void> {
    return this.#permit.close();
  }
}
