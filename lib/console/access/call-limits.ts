import { Injectable } from '@nestjs/common';
import { show } from '../../core/decision/index.js';
import type { Limits, Visitor } from '../api/index.js';
import { ProblemError } from '../api/problem.error.js';
import { Allowance, type Rate } from './allowance.js';
import { ChangeRate } from './change-rate.js';
import { Gate, tooManyWaits } from '../http/gate.js';
import { TaskCalls } from './task-calls.js';

/** Limit of tests of all visitors together, because each one sends requests to other machines. */
const TESTS: Rate = { atOnce: 3, perSecond: 0.1 };

/** Requests of one token that wait at the same time. Each has a connection and asks repeatedly. */
const MOST_WAITS = 100;

/** The limits of operations that are called over HTTP. */
@Injectable()
export class CallLimits implements Limits {
  readonly #tests = new Allowance(TESTS);
  readonly #waits = { permits: gateForWaits(), runs: gateForWaits(), tasks: gateForWaits() };

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

function gateForWaits(): Gate {
  const refusal = (user = '') =>
    tooManyWaits(
      `${MOST_WAITS} requests of ${show(user)} wait on this node already: ask without wait, or use another token or node`,
    );
  return new Gate({ mostEach: MOST_WAITS, refusal });
}
