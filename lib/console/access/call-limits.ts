import { Injectable } from '@nestjs/common';
import type { Limits, Visitor } from '../api/index.js';
import { ProblemError } from '../api/problem.error.js';
import { Allowance, type Rate } from './allowance.js';
import { ChangeRate } from './change-rate.js';
import { TaskCalls } from './task-calls.js';
import { Waits } from './waits.js';

/** Limit of tests of all visitors together, because each one sends requests to other machines. */
const TESTS: Rate = { atOnce: 3, perSecond: 0.1 };

/** The limits of operations that are called over HTTP. */
@Injectable()
export class CallLimits implements Limits {
  readonly #tests = new Allowance(TESTS);
  readonly #waits = { permits: new Waits(), runs: new Waits(), tasks: new Waits() };

  constructor(
    readonly changes: ChangeRate,
    readonly taskCalls: TaskCalls,
  ) {}

  noteTest(): void {
    const wait = this.#tests.take('all');
    if (wait === 0) return;
    const seconds = Math.ceil(wait / 1000);
    throw new ProblemError('too-many-tests', `test again after ${seconds} s`, { retryAfter: seconds });
  }

  waiting<T>(kind: 'permits' | 'runs' | 'tasks', { user }: Visitor, wait: number, work: () => Promise<T>): Promise<T> {
    return wait > 0 ? this.#waits[kind].during(user, work) : work();
  }
}
