import type { CancelTimer } from '../async/node-clock.js';
import type { Context } from '../context/context.js';
import type { Lease } from './lease.js';

/**
 * Refreshes a lease every third of its duration, while a use wants that. After a failure it tries again sooner, until
 * the lease ends. It never revives a lease that has ended.
 */
export class KeepAlive {
  #cancelTimer?: CancelTimer;

  constructor(
    private readonly semaphore: string,
    private readonly lease: Lease,
    private readonly context: Context,
    /** Refreshes the lease. Throws if the store gives no clear answer. */
    private readonly refresh: () => Promise<unknown>,
  ) {}

  start(): void {
    if (!this.#cancelTimer) this.#schedule(this.lease.permit.duration / 3);
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #schedule(delay: number): void {
    this.#cancelTimer = this.context.nodeClock.schedule(() => void this.#tick(), delay);
  }

  async #tick(): Promise<void> {
    const isWanted = [...this.lease.users].some((user) => user.keepAlive);
    if (!isWanted || !this.lease.isHeld) return this.stop();
    const delay = await this.#refreshed();
    if (this.#cancelTimer && this.lease.isHeld) this.#schedule(delay);
  }

  /** @returns ms until the next refresh */
  async #refreshed(): Promise<number> {
    try {
      await this.refresh();
      return this.lease.permit.duration / 3;
    } catch (error) {
      this.context.events.next({ type: 'problem', semaphore: this.semaphore, action: 'keep-alive', error });
      return Math.min(1000, this.lease.permit.duration / 10);
    }
  }
}
