import { Injectable } from '@nestjs/common';
import type { ChangeOfMany, Limits, Visitor } from '../api/index.js';
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
    private readonly changeRate: ChangeRate,
    private readonly taskCalls: TaskCalls,
  ) {}

  noteDefinition(caller: Visitor): void {
    this.changeRate.noteOne(caller);
  }

  noteTaskCall(caller: Visitor): void {
    this.changeRate.noteTaskCall(caller);
  }

  noteTasks(...call: Parameters<Limits['noteTasks']>): void {
    this.taskCalls.note(...call);
  }

  noteTest(): void {
    const wait = this.#tests.take('all');
    if (wait === 0) return;
    const seconds = Math.ceil(wait / 1000);
    throw new ProblemError('too-many-tests', `test again after ${seconds} s`, { retryAfter: seconds });
  }

  ofMany<Result>(caller: Visitor, change: ChangeOfMany<Result>, written: (result: Result) => number): Promise<Result> {
    return this.changeRate.ofMany(caller, change, written);
  }

  ofPause<Result>(caller: Visitor, pause: ChangeOfMany<Result>, written: (result: Result) => number): Promise<Result> {
    return this.changeRate.ofPause(caller, pause, written);
  }

  waiting<T>(kind: 'permits' | 'runs' | 'tasks', { user }: Visitor, wait: number, work: () => Promise<T>): Promise<T> {
    return wait > 0 ? this.#waits[kind].during(user, work) : work();
  }
}
