import type { CancelTimer } from '../async/node-clock.js';
import { KEY_PREFIX, type StoredPermit } from '../decision/index.js';
import type { Context } from '../context/context.js';
import { UnknownSemaphoreError } from '../definitions/definitions.errors.js';
import { AcquireTimeoutError } from './permits.errors.js';
import type { WaitOptions } from './call-options.js';
import type { HeldLeases } from './held-leases.js';
import type { Attempt, HeldPermit } from './held-permit.js';
import { FIRST_NAP, JITTER, LONGEST_NAP } from './until-free.js';
import { SerialQueue } from '../async/serial-queue.js';

type Denied = Attempt & { readonly permit?: undefined };

/** How soon (ms) a denial is looked at again that no expiry will end: the store away, a pattern that doesn't match. */
const SHORT_NAP = 1_000;

/**
 * Queue of the waiters in this process for one semaphore, first in, first out. Between processes chance decides. The
 * first one asks when the record changed or the earliest permit expires, and at no other time.
 */
export class WaitQueue {
  #line = new SerialQueue();
  #wake = new Set<() => void>();
  /** Counts the changes, so that one that came while a look at the record was under way is not missed. */
  #changes = 0;

  constructor(
    private readonly semaphore: string,
    private readonly heldLeases: HeldLeases,
    private readonly context: Context,
    /** ms until a permit may be taken over. */
    private readonly timeUntilExpiry: (permit: StoredPermit) => number,
    /** Whether code defines the semaphore, in the store or about to be. */
    private readonly has: () => boolean,
  ) {}

  /** The record changed, or this node shuts down. */
  wake(): void {
    this.#changes++;
    for (const wake of this.#wake) wake();
  }

  /**
   * @throws AcquireTimeoutError after `timeout`, or when this node shuts down
   * @throws UnknownSemaphoreError when the semaphore has no definition: the wait would never end
   * @throws the signal's reason when it aborts
   */
  async acquire(options: WaitOptions): Promise<HeldPermit> {
    const quit = new AbortController();
    const abort = () => quit.abort(options.signal?.reason);
    const cancel = this.#after(options.timeout, quit);
    options.signal?.addEventListener('abort', abort);
    try {
      options.signal?.throwIfAborted();
      return await this.#acquire(options, quit.signal);
    } finally {
      cancel?.();
      options.signal?.removeEventListener('abort', abort);
    }
  }

  /** As {@link acquire}, but a permit that was not free in time is a denial, with the last reason. */
  async attempt(options: WaitOptions): Promise<Attempt> {
    try {
      return { permit: await this.acquire(options) };
    } catch (error) {
      if (!(error instanceof AcquireTimeoutError)) throw error;
      return { reason: error.reason, holders: [], error: error.cause as Error | undefined };
    }
  }

  #after(timeout: number | undefined, quit: AbortController): CancelTimer | undefined {
    if (timeout === undefined) return undefined;
    const timeUp = () => quit.abort(new AcquireTimeoutError(this.semaphore, timeout, 'no-permit'));
    return this.context.nodeClock.schedule(timeUp, timeout);
  }

  async #acquire(options: WaitOptions, quit: AbortSignal): Promise<HeldPermit> {
    let last: Denied | undefined;
    for (;;) {
      const wait = () => this.#wait(options, quit);
      // A holder that has a permit skips the queue: the one ahead may be waiting for this very permit.
      const waiting = this.heldLeases.holds(options.holder) ? wait() : this.#line.run(wait, quit);
      const attempt = await waiting.catch((error: unknown) => {
        // It gave up its place: the reason why it was denied is the one from before.
        throw last && error === quit.reason ? this.#failure(options, last) : error;
      });
      if (attempt.permit) return this.#unlessAborted(attempt.permit, options.signal);
      await this.#nap(this.#untilWorthwhile(attempt, !last), quit);
      last = attempt;
      if (quit.aborted) throw this.#failure(options, attempt);
    }
  }

  /** Until there is a permit, or this one must not hold up others of this process, who may match where it does not. */
  async #wait(options: WaitOptions, quit: AbortSignal): Promise<Attempt> {
    for (let isFirst = true; ; isFirst = false) {
      const seen = this.#changes;
      const attempt = await this.heldLeases.attempt(options);
      if (attempt.permit || (attempt.reason === 'acquirer' && seen === this.#changes)) return attempt;
      if (attempt.reason === 'no-definition' && !this.has()) throw new UnknownSemaphoreError(this.semaphore);
      if (quit.aborted || attempt.reason === 'closing') throw this.#failure(options, attempt);
      // A grant whose answer came too late goes back from here: that release is no reason to ask again at once.
      const isTooSlow = attempt.reason === 'permit-lost';
      if (isTooSlow || seen === this.#changes)
        await this.#nap(this.#untilWorthwhile(attempt, isFirst), quit, !isTooSlow);
      if (quit.aborted) throw this.#failure(options, attempt);
    }
  }

  #failure(options: WaitOptions, attempt: Denied): Error {
    if (options.signal?.aborted) return options.signal.reason as Error;
    return new AcquireTimeoutError(this.semaphore, options.timeout, attempt.reason, { cause: attempt.error });
  }

  /** A caller that gave up while the grant was under way doesn't want it any more. */
  async #unlessAborted(permit: HeldPermit, signal?: AbortSignal): Promise<HeldPermit> {
    if (signal?.aborted) await permit.release();
    signal?.throwIfAborted();
    return permit;
  }

  #untilWorthwhile(attempt: Denied, isFirst: boolean): number {
    const jitter = this.context.random.number() * JITTER;
    if (attempt.reason !== 'no-permit') return SHORT_NAP + jitter;
    if (isFirst) return FIRST_NAP + jitter;
    return Math.min(LONGEST_NAP, this.#untilExpiry(attempt.holders)) + jitter;
  }

  #untilExpiry(holders: readonly StoredPermit[]): number {
    return Math.max(1, Math.min(...holders.map((permit) => this.timeUntilExpiry(permit))));
  }

  #nap(delay: number, quit: AbortSignal, isLight = true): Promise<void> {
    const endWait = this.context.store.awaitChanges(KEY_PREFIX + this.semaphore);
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        endWait();
        this.#wake.delete(wake);
        quit.removeEventListener('abort', wake);
        resolve();
      };
      const cancel = this.context.nodeClock.schedule(wake, quit.aborted ? 0 : delay, true);
      if (isLight) this.#wake.add(wake);
      quit.addEventListener('abort', wake);
    });
  }
}
