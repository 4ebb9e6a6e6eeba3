import { InvalidOptionsError, TASK_PREFIX, show } from '../../decision/index.js';
import { type TaskName, grouped, single } from '../../tasks/index.js';
import { expectSeen } from '../access/name-limit.js';
import type { Visitor } from '../access/tokens.js';
import { typeOfId } from '../api/index.js';

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
 * The name of a task by its id.
 *
 * @param total number of members of its group
 * @throws InvalidOptionsError
 */
export function nameOf(id: string, total: number | undefined): TaskName {
  const type = typeOfId(id);
  const place = id.slice(type.length);
  const [, group, number] = /^\[(.*)\]#([1-9]\d{0,6})$/su.exec(place) ?? [];
  if (group !== undefined) return grouped(type, group, Number(number), total);
  if (!place.startsWith(':')) {
    throw new InvalidOptionsError('the request', [`id: ${show(id)} is neither "type:name" nor "type[group]#number"`]);
  }
  if (total !== undefined) throw new InvalidOptionsError('the request', [`total: ${show(id)} is in no group`]);
  return single(type, place.slice(1));
}
