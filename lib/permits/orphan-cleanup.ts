import { setMaxListeners } from 'node:events';
import { type StoredPermit, release, rewrite } from '../decision/index.js';
import { type Backoff, pauseAfter } from '../async/backoff.js';
import { pause } from '../async/pause.js';
import type { UseCount } from '../async/use-count.js';
import type { Context } from '../context/context.js';
import type { SemaphoreClient } from '../records/semaphore-records.js';

/** Tries again soon, then every few seconds, until the permit is over anyway. */
const RETRY: Backoff = { first: 100, longest: 5000, jitter: 0 };

type IsUnused = (permit: StoredPermit) => boolean;

/** Frees permits of one semaphore that may be in the record although no use in this process has them. */
export class OrphanCleanup {
  readonly #closing = new AbortController();

  constructor(
    private readonly recordClient: SemaphoreClient,
    /** Counts each clean-up until it ends. */
    private readonly uses: UseCount,
    private readonly context: Context,
  ) {
    // As many pauses as permits are to be freed: Node would warn of a leak from the eleventh on.
    setMaxListeners(0, this.#closing.signal);
  }

  /**
   * Frees a permit that this process does not use, although the record may contain it now or later: a write without an
   * answer may still be on its way. Any other write makes such a write fail, so this always writes.
   *
   * @param duration for which it was asked, in ms, if not for the definition's
   * @param isUnused for permits that another caller may have taken over meanwhile: whether it is still unused
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
        // Closing also ends the wait for the store: no new pause may begin after it.
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

  /** As {@link reclaim}, but not before `delay` ms have passed. */
  reclaimLater(delay: number, ...what: Parameters<OrphanCleanup['reclaim']>): Promise<void> {
    return this.uses.during(async () => {
      if (this.#isClosed) return;
      await this.#pause(delay);
      await this.reclaim(...what);
    });
  }

  /** How long a permit lasts, as far as this node knows, in ms. */
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

  /** Until the time is over, or {@link close} ends it. */
  #pause(delay: number): Promise<void> {
    return pause(this.context.nodeClock, delay, { signal: this.#closing.signal, isAwaited: false });
  }
}
