import { pauseAfter } from '../../async/backoff.js';
import { pause } from '../../async/pause.js';
import type { Context } from '../../context/context.js';
import type { RunOfJob } from '../../context/events.js';
import type { RetryPolicy } from '../retry-policy.js';
import type { RunPermit } from './run-permit.js';

interface Retried<T> {
  readonly run: RunOfJob;
  readonly permit: RunPermit;
  readonly policy: RetryPolicy;
  /** Whether this node may begin another attempt now: it is not closing, and its semaphore gives it new work. */
  readonly mayRetry: () => boolean;
  /** @param attempt 1 for the first one */
  readonly work: (attempt: number) => T | Promise<T>;
}

/**
 * Tries failed runs again. The permit stays held between two attempts, and no attempt begins without it:
 *
 * ```
 *   attempt ─▶ failed ─▶ last one, permit over, paused, closing, or refused by retryIf? the error ends the run
 *      ▲                        │ no
 *      └──── pause ◀────────────┘   ends early when the permit is over, at a pause of the semaphore, at a shutdown
 * ```
 */
export class Retries {
  /** Ends of the pauses in progress, if no further attempt may begin. */
  readonly #pauses = new Set<() => void>();

  constructor(private readonly context: Pick<Context, 'events' | 'nodeClock'> & Partial<Pick<Context, 'random'>>) {}

  /** Looks again whether the pauses in progress may still lead to an attempt. Call it when something has changed. */
  reconsider(): void {
    for (const look of this.#pauses) look();
  }

  /** @throws the error of the last attempt */
  async run<T>(retried: Retried<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await retried.work(attempt);
      } catch (error) {
        if (!(await this.#mayTryAgain(retried, attempt, error))) throw error;
        await this.#pause(retried, attempt, error);
        if (!mayBegin(retried)) throw error;
      }
    }
  }

  async #mayTryAgain<T>(retried: Retried<T>, attempt: number, error: unknown): Promise<boolean> {
    const { policy, run } = retried;
    if (attempt >= policy.attempts || !mayBegin(retried)) return false;
    try {
      return (await policy.retryIf?.(error)) ?? true;
    } catch (fault) {
      this.context.events.next({ type: 'problem', semaphore: run.semaphore, action: 'retryIf', error: fault });
      return false;
    }
  }

  async #pause<T>(retried: Retried<T>, attempt: number, error: unknown): Promise<void> {
    const { run, permit, policy } = retried;
    const { events, nodeClock, random } = this.context;
    const delay = Math.round(pauseAfter(attempt - 1, random?.number() ?? 1, policy.backoff));
    events.next({ type: 'run-attempt-failed', ...run, attempt, attempts: policy.attempts, error, pause: delay });
    if (delay === 0) return;
    const ending = new AbortController();
    const look = () => mayBegin(retried) || ending.abort();
    this.#pauses.add(look);
    await pause(nodeClock, delay, { signal: AbortSignal.any([permit.signal, ending.signal]) });
    this.#pauses.delete(look);
  }
}

function mayBegin({ permit, mayRetry }: Pick<Retried<unknown>, 'permit' | 'mayRetry'>): boolean {
  return permit.isHeld && mayRetry();
}
