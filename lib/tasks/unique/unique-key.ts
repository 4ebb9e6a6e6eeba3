import { InvalidOptionsError, show } from '../../core/decision/index.js';
import { type TaskName, nameFaults, single } from '../task-id.js';
import type { UniqueOptions } from './unique-options.js';

/**
 * The name of a submission with its key.
 *
 * @throws InvalidOptionsError if the name is of a group, or the key can't be a name
 */
export function nameOfKey(name: TaskName, key: UniqueOptions['key'], data: unknown): TaskName {
  if (name.member) {
    throw new InvalidOptionsError(`task ${show(name.id)}`, ['unique: a member of a group is one task by its number']);
  }
  if (key === undefined) return name;
  const text = typeof key === 'function' ? key(data as never) : key;
  const faults = nameFaults('unique.key', text);
  if (faults.length > 0) throw new InvalidOptionsError(`task ${show(name.id)}`, faults);
  return { ...name, id: single(name.type, text).id };
}
