import { pauseAfter } from '../async/backoff.js';
import { LazyAbort } from '../async/lazy-abort.js';
import { pause } from '../async/pause.js';
import { Wakeup } from '../async/wakeup.js';
import type { Context } from '../context/context.js';
import type { DenialReason, StoredPermit } from '../decision/index.js';
import type { SemaphoreCell } from '../cell/semaphore-records.js';

/** Longest time between two looks of a waiter, in ms. Needed because the watch is only a hint. */
const LONGEST_NAP = 5_000;

/** ms until the next look after a denial that neither an expiry nor an edit ends: store unavailable, or a grace. */
const SHORT_NAP = 1_000;

/**
 * ms until the second look at a record. A node that released a permit just after the first look may not have known yet
 * that this node waits.
 */
const FIRST_NAP = 50;

/** Longest random delay in ms, so that the naps of several nodes do not all end at the same moment. */
const JITTER = 20;

/** Pauses after a grant that was answered too late. This node releases it, and must not ask at once because of that. */
const AFTER_LATE_GRANTS = { first: 200, longest: SHORT_NAP, jitter: 0 };

interface Denial {
  readonly reason: DenialReason;
  readonly holders: readonly StoredPermit[];
}

/**
 * Asks once for a permit.
 *
 * @param mayTake false while earlier calls wait; then the call gets no new permit, only one that it already has
 * @returns a grant, or a denial with its reason
 */
export type Ask<A extends object> = (mayTake: boolean) => Promise<A>;

export interface Patience {
  /** ms. Default: no limit. */
  readonly timeout?: number;
  /** The wait ends when this signal aborts. */
  readonly signal?: AbortSignal;
}

/** One call that waits. */
interface Waiter {
  readonly bell: Wakeup;
  /** Aborts after the timeout, or when the caller gives up. Most calls are granted at once, and never need its signal. */
  readonly quit: LazyAbort;
  /** Number of denials while it was first in the line. */
  denials: number;
  /** Number of consecutive grants that were answered too late. */
  lateGrants: number;
  /** Whether what hindered its last question has passed. */
  mayAskAgain: boolean;
}

/**
 * Queue of the waiters in this process for one semaphore, local and external callers, first in, first out. Between
 * processes the order is random. The first call in the line asks when the record changes, when the earliest permit
 * expires, and every few seconds.
 *
 * | place of a call      | asks for a permit                              | next place                               |
 * | -------------------- | ---------------------------------------------- | ---------------------------------------- |
 * | in the line          | at its start, for one that it already has, and | first, when all earlier calls have left  |
 * |                      | when the store is back, or after a pause       |                                          |
 * | first in the line    | after each bell or nap                         | aside, if a pattern does not match       |
 * | aside                | never                                          | end of the line, after a bell or nap     |
 *
 * A wait ends with a grant, the shutdown of the node (`closing`), the timeout or the caller's signal.
 */
export class WaitQueue {
  readonly #line = new Set<Waiter>();
  readonly #aside = new Set<Waiter>();
  /** Calls whose last denial says nothing about other holders. One of them looks whether its reason has passed. */
  readonly #hindered = new Set<Waiter>();

  constructor(
    private readonly record: Pick<SemaphoreCell, 'awaitChanges' | 'timeUntilExpiry'>,
    private readonly context: Pick<Context, 'nodeClock' | 'random'>,
  ) {}

  /** Call this when the record has changed, or when this node shuts down. */
  wake(): void {
    this.#first?.bell.ring();
    for (const { bell } of this.#aside) bell.ring();
  }

  /**
   * Asks until there is a grant, or until the wait ends.
   *
   * @returns the grant or the last denial
   * @throws any error of `ask`; it ends the wait
   */
  async wait<A extends object>(ask: Ask<A>, { timeout, signal }: Patience): Promise<A> {
    const [bell, quit] = [new Wakeup(this.context.nodeClock), new LazyAbort()];
    const end = () => {
      quit.abort(() => new Error('the wait is over'));
      bell.ring();
    };
    const cancel = timeout === undefined ? undefined : this.context.nodeClock.schedule(end, timeout);
    signal?.addEventListener('abort', end);
    const waiter = { bell, quit, denials: 0, lateGrants: 0, mayAskAgain: false };
    this.#line.add(waiter);
    try {
      return await this.#untilGranted(ask, waiter);
    } finally {
      cancel?.();
      signal?.removeEventListener('abort', end);
      this.#leave(waiter);
    }
  }

  get #first(): Waiter | undefined {
    return this.#line.values().next().value;
  }

  async #untilGranted<A extends object>(ask: Ask<A>, waiter: Waiter): Promise<A> {
    let answer: A | undefined;
    let endWait: (() => void) | undefined;
    try {
      for (;;) {
        waiter.bell.reset();
        const isItsTurn = this.#first === waiter;
        const asks = !answer || isItsTurn || waiter.mayAskAgain || this.#looker === waiter;
        waiter.mayAskAgain = false;
        if (!answer || asks) answer = this.#noted(await ask(isItsTurn), waiter);
        if (!isDenial(answer) || answer.reason === 'closing' || waiter.quit.isAborted) return answer;
        if (isItsTurn) waiter.denials++;
        endWait ??= this.record.awaitChanges();
        if (asks && isMismatch(answer)) await this.#standAside(waiter);
        else if (this.#first === waiter) await this.#nap(waiter, answer);
        else
          await waiter.bell.wait(this.#looker === waiter ? this.#untilWorthwhile(answer) + this.#jitter() : undefined);
        if (waiter.quit.isAborted) return answer;
      }
    } finally {
      endWait?.();
    }
  }

  get #looker(): Waiter | undefined {
    return this.#hindered.values().next().value;
  }

  /** An answer without a hindrance shows that it has passed for all calls. */
  #noted<A extends object>(answer: A, waiter: Waiter): A {
    if (isHindrance(answer)) {
      this.#hindered.add(waiter);
      return answer;
    }
    this.#hindered.delete(waiter);
    for (const other of this.#hindered) {
      other.mayAskAgain = true;
      other.bell.ring();
    }
    this.#hindered.clear();
    return answer;
  }

  /** Moves a waiter out of the line for a while: it must not delay others that the pattern may match. */
  async #standAside(waiter: Waiter): Promise<void> {
    this.#leave(waiter);
    this.#aside.add(waiter);
    await waiter.bell.wait(LONGEST_NAP + this.#jitter());
    this.#aside.delete(waiter);
    this.#line.add(waiter);
  }

  #leave(waiter: Waiter): void {
    const wasFirst = this.#first === waiter;
    this.#line.delete(waiter);
    if (wasFirst) this.#first?.bell.ring();
    const wasLooker = this.#looker === waiter;
    this.#hindered.delete(waiter);
    if (wasLooker) this.#looker?.bell.ring();
  }

  async #nap(waiter: Waiter, denial: Denial): Promise<void> {
    if (denial.reason === 'permit-lost') {
      const delay = pauseAfter(waiter.lateGrants++, 1, AFTER_LATE_GRANTS) + this.#jitter();
      return pause(this.context.nodeClock, delay, { signal: waiter.quit.signal });
    }
    waiter.lateGrants = 0;
    await waiter.bell.wait(this.#untilWorthwhile(denial, waiter.denials === 1) + this.#jitter());
  }

  #untilWorthwhile({ reason, holders }: Denial, isFirstLook = false): number {
    if (reason === 'paused') return LONGEST_NAP;
    if (reason !== 'no-permit') return SHORT_NAP;
    if (isFirstLook) return FIRST_NAP;
    const untilExpiry = Math.min(...holders.map((permit) => this.record.timeUntilExpiry(permit)));
    return Math.min(LONGEST_NAP, Math.max(1, untilExpiry));
  }

  #jitter(): number {
    return this.context.random.number() * JITTER;
  }
}

function isDenial<A extends object>(answer: A): answer is A & Denial {
  return 'reason' in answer;
}

/**
 * Whether a denial says nothing about other holders. The first in the line may wait for the very permit that the call already
 * has, so the call must not wait for its turn.
 */
function isHindrance<A extends object>(answer: A): boolean {
  return isDenial(answer) && answer.reason !== 'no-permit' && answer.reason !== 'closing' && !isMismatch(answer);
}

function isMismatch({ reason }: Denial): boolean {
  return reason === 'acquirer' || reason === 'group';
}
