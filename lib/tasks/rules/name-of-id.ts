import { InvalidOptionsError, show } from '../../core/decision/index.js';
import { type TaskName, grouped, single } from './task-id.js';

/** Type of a task, by its id: a type has neither a colon nor a bracket. */
export function typeOfId(id: string): string {
  return id.slice(0, Math.max(0, id.search(/[:[]/)));
}

/**
 * The name of a task by its id.
 *
 * @param total number of members of its group
 * @throws InvalidOptionsError
 */
export function nameOfId(id: string, total: number | undefined): TaskName {
  const type = typeOfId(id);
  const place = id.slice(type.length);
  const [, group, number] = /^\[(.*)\]#(0|[1-9]\d{0,6})$/su.exec(place) ?? [];
  if (group !== undefined) return grouped(type, group, Number(number), total);
  if (!place.startsWith(':')) {
    throw new InvalidOptionsError('a task', [`id: ${show(id)} is neither "type:name" nor "type[group]#number"`]);
  }
  if (total !== undefined) throw new InvalidOptionsError('a task', [`total: ${show(id)} is in no group`]);
  return single(type, place.slice(1));
}
