import { Injectable } from '@nestjs/common';
import type { Route } from '../api/index.js';
import { ProblemError } from '../http/problem.error.js';
import { Allowance } from './allowance.js';
import type { Visitor } from './tokens.js';

/** Calls that change definitions, by the visitor's name: 10,000 of them take at least 7 minutes. */
const CHANGES = { atOnce: 1000, perSecond: 20 };

/** Bounds how fast one token can fill the audit log, from which the oldest entries fall out. */
@Injectable()
export class ChangeRate {
  readonly #changes = new Allowance(CHANGES);

  /** @throws ProblemError when there are too many */
  note({ user }: Visitor, { writes = false, isForPermits = false, role }: Route): void {
    if (!writes || isForPermits || role === 'node') return;
    const wait = this.#changes.take(user);
    if (wait === 0) return;
    const seconds = Math.ceil(wait / 1000);
    const detail = `${CHANGES.perSecond} changes a second are let through for one token: go on after ${seconds} s, or change many with one call`;
    throw new ProblemError('too-many-changes', detail, { retryAfter: seconds });
  }
}
