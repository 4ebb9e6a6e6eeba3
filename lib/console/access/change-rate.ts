import { Injectable } from '@nestjs/common';
import type { ChangeOfMany, Route, Visitor } from '../api/index.js';
import { ProblemError } from '../api/problem.error.js';
import { Allowance, type Rate } from './allowance.js';

/** Limit of calls that change one definition: 10,000 of them take at least 7 minutes. */
const CALLS: Rate = { atOnce: 1000, perSecond: 20 };
/**
 * Limit of definitions that bulk calls change. A call may exceed the rest of the limit, so one call can change a whole
 * cluster. In a cluster of 2,500 semaphores, three such calls and {@link CALLS} together still fit into a journal of
 * 10,000 entries.
 */
const OF_MANY: Rate = { atOnce: 2500, perSecond: 20 };

/** Limit of submissions and claims of tasks: 10,000 at once, then 500 a second. */
const TASK_CALLS: Rate = { atOnce: 10_000, perSecond: 500 };

/**
 * Limits how fast one token can fill the audit log. Each change adds an entry, and the log drops its oldest entries.
 * Single and bulk changes have separate limits, so that single jobs can be resumed right after a pause of all.
 */
@Injectable()
export class ChangeRate {
  readonly #calls = new Allowance(CALLS);
  readonly #ofMany = new Allowance(OF_MANY);
  readonly #taskCalls = new Allowance(TASK_CALLS);

  /** Counts a call of a route, if it makes a single change. @throws ProblemError if there are too many */
  note(
    visitor: Visitor,
    { writes = false, changesMany = false, isForPermits = false, isUnaudited = false, role }: Route,
  ): void {
    if (!writes || changesMany || isForPermits || isUnaudited || role === 'node') return;
    this.noteOne(visitor);
  }

  /** Counts a single change. @throws ProblemError if there are too many */
  noteOne({ user }: Visitor): void {
    expectNoWait(this.#calls.take(user), CALLS);
  }

  /** Counts a submission, or a claim. @throws ProblemError if there are too many */
  noteTaskCall({ user }: Visitor): void {
    const wait = this.#taskCalls.take(user);
    if (wait === 0) return;
    const detail = `one token may make ${TASK_CALLS.perSecond} submissions and claims a second: continue after 1 s`;
    throw new ProblemError('too-many-tasks', detail, { retryAfter: Math.ceil(wait / 1000) });
  }

  /**
   * Makes a bulk change, and counts its changes.
   *
   * @param written returns the number of changed definitions in the result
   * @throws ProblemError while earlier changes are above the limit; then nothing was changed
   */
  ofMany<Result>(
    { user }: Visitor,
    change: ChangeOfMany<Result>,
    written: (result: Result) => number,
  ): Promise<Result> {
    return this.#counted(user, change, written, (count) => expectNoWait(this.#ofMany.take(user, count), OF_MANY));
  }

  /**
   * Counts the changes of a bulk pause, but never refuses it, because it may be an emergency. Pauses can't fill the
   * log: each adds at most one entry per running semaphore, and to resume them is limited.
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
      // Changes that failed do not count, for example because the store was unreachable.
      if (unwritten > 0) this.#ofMany.owe(user, -unwritten);
    }
  }
}

/** @throws ProblemError */
function expectNoWait(wait: number, { perSecond }: Rate): void {
  if (wait === 0) return;
  const seconds = Math.ceil(wait / 1000);
  const detail = `one token may make ${perSecond} changes a second: continue after ${seconds} s`;
  throw new ProblemError('too-many-changes', detail, { retryAfter: seconds });
}
