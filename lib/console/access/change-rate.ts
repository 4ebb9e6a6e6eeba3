import { Injectable } from '@nestjs/common';
import type { Route } from '../api/index.js';
import { ProblemError } from '../http/problem.error.js';
import { Allowance, type Rate } from './allowance.js';
import type { Visitor } from './tokens.js';

/** Calls that change one definition: 10,000 of them take at least 7 minutes. */
const CALLS: Rate = { atOnce: 1000, perSecond: 20 };
/**
 * Definitions that calls of many change. A call may be larger than what is left, so that one call can change a whole
 * cluster; three such calls and {@link CALLS} still fit into a journal of 10,000 entries.
 */
const OF_MANY: Rate = { atOnce: 2500, perSecond: 20 };

/** A change of many definitions. Before the first change it reports how many it will change. */
type ChangeOfMany<Result> = (onPlanned: (count: number) => void) => Promise<Result>;

/**
 * Limits how fast one token can fill the audit log, which drops its oldest entries: each change is an entry. Changes of
 * one and of many have separate limits, so that single jobs can be resumed right after all were paused.
 */
@Injectable()
export class ChangeRate {
  readonly #calls = new Allowance(CALLS);
  readonly #ofMany = new Allowance(OF_MANY);

  /** @throws ProblemError when there are too many */
  note({ user }: Visitor, { writes = false, changesMany = false, isForPermits = false, role }: Route): void {
    if (!writes || changesMany || isForPermits || role === 'node') return;
    expectNoWait(this.#calls.take(user), CALLS);
  }

  /**
   * Lets a change of many through, and counts what it changed.
   *
   * @param written how many definitions its result says were changed
   * @throws ProblemError while earlier changes are still owed; then nothing was changed
   */
  ofMany<Result>(
    { user }: Visitor,
    change: ChangeOfMany<Result>,
    written: (result: Result) => number,
  ): Promise<Result> {
    return this.#counted(user, change, written, (count) => expectNoWait(this.#ofMany.take(user, count), OF_MANY));
  }

  /**
   * Counts the changes of a pause of many, and refuses none, because it may be an emergency. A pause can't fill the log: it
   * adds at most one entry per running semaphore, and resuming them is limited.
   */
  ofPause<Result>(
    { user }: Visitor,
    pause: ChangeOfMany<Result>,
    written: (result: Result) => number,
  ): Promise<Result> {
    return this.#counted(user, pause, written, (count) => this.#ofMany.owe(user, count));
  }

  async #counted<Result>(
    user: string,
    change: ChangeOfMany<Result>,
    written: (result: Result) => number,
    take: (count: number) => void,
  ): Promise<Result> {
    let unwritten = 0;
    try {
      const result = await change((count) => {
        if (count > 0) take(count);
        unwritten = count;
      });
      unwritten -= written(result);
      return result;
    } finally {
      // Changes that failed, as with an unreachable store, don't count.
      if (unwritten > 0) this.#ofMany.owe(user, -unwritten);
    }
  }
}

/** @throws ProblemError */
function expectNoWait(wait: number, { perSecond }: Rate): void {
  if (wait === 0) return;
  const seconds = Math.ceil(wait / 1000);
  const detail = `${perSecond} changes a second are let through for one token: go on after ${seconds} s`;
  throw new ProblemError('too-many-changes', detail, { retryAfter: seconds });
}
