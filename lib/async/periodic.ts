import type { CancelTimer, NodeClock } from './node-clock.js';

/**
 * Repeats a piece of work, with up to a fifth of the interval of jitter, until it is stopped. One at a time: the next
 * is planned when the former ended, however it ended.
 */
export class Periodic {
  #cancelTimer?: CancelTimer;
  #isStopped = false;

  constructor(
    private readonly nodeClock: NodeClock,
    private readonly work: () => Promise<void>,
    private readonly options: {
      /** ms until the next time, asked when one has ended. */
      readonly interval: () => number;
      readonly chance: () => number;
      readonly onError: (error: unknown) => void;
    },
  ) {}

  /**
   * Does nothing once it was stopped.
   *
   * @param delay ms before the first time; the interval unless given
   */
  start(delay = this.#nextDelay()): void {
    if (this.#isStopped) return;
    this.#cancelTimer = this.nodeClock.schedule(() => void this.#tick(), delay);
  }

  /** Does it for the first time now, and resolves when that has ended. */
  begin(): Promise<void> {
    return this.#tick();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer?.();
  }

  async #tick(): Promise<void> {
    // What was under way when it was stopped has lost what it works on.
    await this.work().catch((error: unknown) => this.#isStopped || this.options.onError(error));
    if (!this.#isStopped) this.start();
  }

  #nextDelay(): number {
    return this.options.interval() * (0.9 + 0.2 * this.options.chance());
  }
}
