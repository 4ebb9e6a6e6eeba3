import type { CancelTimer, NodeClock } from './node-clock.js';

/**
 * Repeats a piece of work until it is stopped, one at a time: the next is planned when the former has ended or failed.
 * Jitter makes each interval up to a tenth shorter or longer, so that nodes that started together drift apart.
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
   * Plans the first time. Does nothing after {@link stop}.
   *
   * @param delay ms before the first time; the interval unless given
   */
  start(delay = this.#nextDelay()): void {
    if (this.#isStopped) return;
    this.#cancelTimer = this.nodeClock.schedule(() => void this.#tick(), delay);
  }

  /** Works for the first time now, and resolves when that has ended. */
  begin(): Promise<void> {
    return this.#tick();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer?.();
  }

  async #tick(): Promise<void> {
    // Work that was under way when it was stopped fails because its store is closed.
    await this.work().catch((error: unknown) => this.#isStopped || this.options.onError(error));
    if (!this.#isStopped) this.start();
  }

  #nextDelay(): number {
    return this.options.interval() * (0.9 + 0.2 * this.options.chance());
  }
}
