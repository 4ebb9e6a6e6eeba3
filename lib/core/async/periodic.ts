import type { CancelTimer, NodeClock } from './node-clock.js';

/**
 * Repeats work until it is stopped. The next run is planned when the former one has ended or failed, so runs never
 * overlap. Jitter makes each interval up to a tenth shorter or longer, so that nodes that started together drift apart.
 */
export class Periodic {
  #cancelTimer?: CancelTimer;
  #isStopped = false;

  constructor(
    private readonly nodeClock: NodeClock,
    private readonly work: () => Promise<void>,
    private readonly options: {
      /** ms until the next run; called when a run has ended. */
      readonly interval: () => number;
      /** A random number from 0 to 1. */
      readonly chance: () => number;
      readonly onError: (error: unknown) => void;
    },
  ) {}

  /**
   * Plans the next run. Does nothing after {@link stop}.
   *
   * @param delay ms before the run. Default: the interval, with jitter
   */
  start(delay = this.#nextDelay()): void {
    if (this.#isStopped) return;
    this.#cancelTimer = this.nodeClock.schedule(() => void this.#tick(), delay);
  }

  /** Starts the first run now, and resolves when it has ended. */
  begin(): Promise<void> {
    return this.#tick();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer?.();
  }

  async #tick(): Promise<void> {
    // After stop(), work fails because its store is closed. That is no error to report.
    await this.work().catch((error: unknown) => this.#isStopped || this.options.onError(error));
    if (!this.#isStopped) this.start();
  }

  #nextDelay(): number {
    return this.options.interval() * (0.9 + 0.2 * this.options.chance());
  }
}
