import { setMaxListeners } from 'node:events';
import { type StoredPermit, release, rewrite } from '../decision/index.js';
import { type Backoff, pauseAfter } from '../async/backoff.js';
import { pause } from '../async/pause.js';
import type { UseCount } from '../async/use-count.js';
import type { Context } from '../context/context.js';
import type { SemaphoreClient } from '../records/semaphore-records.js';

/** Retries soon, then every few seconds, until the permit would have expired. */
const RETRY: Backoff = { first: 100, longest: 5000, jitter: 0 };

type IsUnused = (permit: StoredPermit) => boolean;

/** Frees permits of one semaphore that may be in the record although this process does not use them. */
export class OrphanCleanup {
  readonly #closing = new AbortController();

  constructor(
    private readonly recordClient: SemaphoreClient,
    /** Counts each clean-up until it ends. */
    private readonly uses: UseCount,
    private readonly context: Context,
  ) {
    // Each permit to free may add a listener, and Node warns about a leak from the eleventh listener on.
    setMaxListeners(0, this.#closing.signal);
  }

  /**
   * Frees a permit that this process does not use, although the record may contain it now or later: a write without an
   * answer may still be on its way. Any other write makes such a write fail, so this always writes.
   *
   * @param duration that was asked for, in ms, if any
   * @param isUnused for a permit that another caller may have taken over meanwhile: whether it is still unused
   */
  reclaim(permitId: string, duration = 0, isUnused: IsUnused = () => true): Promise<void> {
    return this.uses.during(() => this.#reclaim(permitId, duration, isUnused));
  }

  async #reclaim(permitId: string, duration: number, isUnused: IsUnused): Promise<void> {
    const until = this.context.nodeClock.monotonic() + Math.max(duration, this.#longestOf(permitId));
    for (let failures = 0; !this.#isClosed; failures++) {
      try {
        return await this.recordClient.transact<void>((record, view, nonce) => {
          if (!record) return { result: undefined };
          const stored = record.permits.find(({ id }) => id === permitId);
          const freed = stored && isUnused(stored) && release(record, permitId, view, nonce);
          return { notify: 'waiting', write: freed || rewrite(record, {}, view, nonce), done: () => {} };
        });
      } catch (error) {
        // Closing may have ended the call of the store. No new pause may begin after that.
        if (this.#isClosed) return;
        const delay = pauseAfter(failures, 1, RETRY);
        if (this.context.nodeClock.monotonic() + delay > until) {
          this.context.events.next({ type: 'problem', semaphore: this.recordClient.name, action: 'reclaim', error });
          return;
        }
        await this.#pause(delay);
      }
    }
  }

  /** Like {@link reclaim}, after `delay` ms. */
  reclaimLater(delay: number, ...what: Parameters<OrphanCleanup['reclaim']>): Promise<void> {
    return this.uses.during(async () => {
      if (this.#isClosed) return;
      await this.#pause(delay);
      await this.reclaim(...what);
    });
  }

  /** The longest time that a permit may last, as far as this node knows, in ms. */
  #longestOf(permitId: string): number {
    const { definition, permits = [] } = this.recordClient.known ?? {};
    // After extend(), or an edit of the definition, a permit may last longer than the definition says.
    const stored = permits.find(({ id }) => id === permitId);
    return Math.max(definition?.duration ?? 60_000, stored?.duration ?? 0);
  }

  close(): void {
    this.#closing.abort();
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Waits for `delay` ms, or until {@link close}. */
  #pause(delay: number): Promise<void> {
    return pause(this.context.nodeClock, delay, { signal: this.#closing.signal, isAwaited: false });
  }
}
