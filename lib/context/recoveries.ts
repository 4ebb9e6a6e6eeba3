import type { Expiring } from '../decision/index.js';
import type { NodeClock } from '../async/node-clock.js';

/** Notes the graces of restored records, so that the health can say until when they last. */
export class Recoveries {
  /** The highest end, in cluster time. */
  #until = 0;
  #since = 0;

  constructor(private readonly nodeClock: Pick<NodeClock, 'monotonic'>) {}

  /**
   * Notes the grace of a record that this node has read or written.
   *
   * @param now of the caller: cluster time, ms since the epoch
   */
  note(grace: Expiring, now: number): void {
    if (grace.expiresAt <= Math.max(now, this.#until)) return;
    if (this.#until <= now) this.#since = this.nodeClock.monotonic();
    this.#until = grace.expiresAt;
  }

  /**
   * The grace that ends last, as far as this node knows.
   *
   * @returns since when this node knows of a grace (monotonic ms), and its end in cluster time; undefined without one
   */
  current(now: number): { readonly since: number; readonly until: number } | undefined {
    return this.#until > now ? { since: this.#since, until: this.#until } : undefined;
  }
}
