import { setMaxListeners } from 'node:events';
import { type StoredPermit, rewrite } from '../decision/index.js';
import { type Backoff, pauseAfter } from '../async/backoff.js';
import { LazyAbort } from '../async/lazy-abort.js';
import { pause } from '../async/pause.js';
import type { UseCount } from '../async/use-count.js';
import { Wakeup } from '../async/wakeup.js';
import type { Context } from '../context/context.js';
import type { SemaphoreCell } from '../cell/semaphore-records.js';

/** Retries soon, then every few seconds, until the permit would have expired. */
const RETRY: Backoff = { first: 100, longest: 5000, jitter: 0 };

type IsUnused = (permit: StoredPermit) => boolean;

/** A permit to free. */
interface Orphan {
  readonly permitId: string;
  readonly isUnused: IsUnused;
  /** Monotonic ms at which it would have expired. */
  readonly until: number;
}

/** Frees permits of one semaphore that may be in the record although this process does not use them. */
export class OrphanCleanup {
  readonly #closing = new LazyAbort();
  readonly #wakeup: Wakeup;
  #orphans = new Set<Orphan>();
  #isAtWork = false;

  constructor(
    private readonly cell: SemaphoreCell,
    /** Counts as long as there are permits to free. */
    private readonly uses: UseCount,
    private readonly context: Context,
  ) {
    this.#wakeup = new Wakeup(context.nodeClock);
  }

  /**
   * Frees a permit that this process does not use, although the record may contain it now or later: a write without an
   * answer may still be on its way. Any other write makes such a write fail, so this always writes. One write frees all
   * permits: during an outage each unclear attempt leaves one.
   *
   * @param duration that was asked for, in ms, if any
   * @param isUnused for a permit that another caller may have taken over meanwhile: whether it is still unused
   */
  reclaim(permitId: string, duration = 0, isUnused: IsUnused = () => true): void {
    const until = this.context.nodeClock.monotonic() + Math.max(duration, this.#longestOf(permitId));
    this.#orphans.add({ permitId, isUnused, until });
    this.#wakeup.ring();
    if (!this.#isAtWork) void this.uses.during(() => this.#reclaimAll());
  }

  async #reclaimAll(): Promise<void> {
    this.#isAtWork = true;
    for (let failures = 0; this.#orphans.size > 0 && !this.#isClosed;) {
      this.#wakeup.reset();
      try {
        for (const orphan of await this.#free()) this.#orphans.delete(orphan);
        failures = 0;
      } catch (error) {
        // Closing may have ended the call of the store. No new pause may begin after that.
        if (this.#isClosed) break;
        const delay = pauseAfter(failures++, 1, RETRY);
        this.#giveUpUntil(this.context.nodeClock.monotonic() + delay, error);
        if (this.#orphans.size > 0) await this.#wakeup.wait(delay, false);
      }
    }
    this.#isAtWork = false;
  }

  /** @returns the permits that the record can't contain any more */
  #free(): Promise<readonly Orphan[]> {
    return this.cell.transact<readonly Orphan[]>((record, view, nonce) => {
      // Those that come after this may have a write on its way that expects the text of this one.
      const orphans = [...this.#orphans];
      if (!record) return { result: orphans };
      const isFreed = (stored: StoredPermit) =>
        orphans.some(({ permitId, isUnused }) => permitId === stored.id && isUnused(stored));
      const permits = record.permits.filter((stored) => !isFreed(stored));
      return { notify: 'waiting', write: rewrite(record, { permits }, view, nonce), done: () => orphans };
    });
  }

  /** Forgets the permits that will have expired at a time, in monotonic ms. */
  #giveUpUntil(time: number, error: unknown): void {
    const given = [...this.#orphans].filter(({ until }) => until < time);
    for (const orphan of given) this.#orphans.delete(orphan);
    if (given.length === 0) return;
    this.context.events.next({ type: 'problem', semaphore: this.cell.name, action: 'reclaim', error });
  }

  /** Like {@link reclaim}, after `delay` ms. */
  reclaimLater(delay: number, ...what: Parameters<OrphanCleanup['reclaim']>): Promise<void> {
    return this.uses.during(async () => {
      if (this.#isClosed) return;
      const { signal } = this.#closing;
      // Each permit to free later adds a listener, and Node warns about a leak from the eleventh listener on.
      setMaxListeners(0, signal);
      await pause(this.context.nodeClock, delay, { signal, isAwaited: false });
      this.reclaim(...what);
    });
  }

  /** The longest time that a permit may last, as far as this node knows, in ms. */
  #longestOf(permitId: string): number {
    const { definition, permits = [] } = this.cell.known ?? {};
    // After extend(), or an edit of the definition, a permit may last longer than the definition says.
    const stored = permits.find(({ id }) => id === permitId);
    return Math.max(definition?.duration ?? 60_000, stored?.duration ?? 0);
  }

  close(): void {
    this.#closing.abort(() => new Error('the semaphore is closed'));
    this.#wakeup.ring();
  }

  get #isClosed(): boolean {
    return this.#closing.isAborted;
  }
}
