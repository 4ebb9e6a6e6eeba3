import { TASK_PREFIX } from '../../core/decision/index.js';
import { expectNoSchedule } from '../../tasks/index.js';
import { type Visitor, expectSeen } from './caller.js';

/**
 * Checks that a visitor may see the tasks of these types: a token that is limited to some names sees a type if its
 * pattern matches `task:<type>`.
 *
 * @throws ProblemError
 */
export function expectTypesSeen(visitor: Visitor, types: readonly string[]): void {
  expectSeen(visitor, ...types.map((type) => ({ semaphore: TASK_PREFIX + type })));
}

/**
 * Checks that a visitor may submit, claim and end tasks of these types: it sees them, and they are of no schedule.
 *
 * @throws ProblemError, ReservedNameError
 */
export function expectTypesOpen(visitor: Visitor, types: readonly string[]): void {
  expectTypesSeen(visitor, types);
  expectNoSchedule(...types);
}
