import { InvalidOptionsError, show } from '../../core/decision/index.js';
import type { SubmitOptions } from '../submit-options.js';
import { nameFaults } from '../task-id.js';

/** The fair key of one task. @throws InvalidOptionsError if it can't be used */
export function fairKeyOf(id: string, key: NonNullable<SubmitOptions['fairKey']>, data: unknown): string {
  const text = typeof key === 'function' ? key(data as never) : key;
  const faults = nameFaults('fairKey', text);
  if (faults.length > 0) throw new InvalidOptionsError(`task ${show(id)}`, faults);
  return text;
}
