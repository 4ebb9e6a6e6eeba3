import { InvalidOptionsError } from '../../core/decision/index.js';
import { type SubmitOptions, parseSubmitOptions } from './submit-options.js';
import { type TaskDefinition, typeFaults } from './task-id.js';

/**
 * Defines a type of tasks once, for the code that submits them and the code that handles them. Then the compiler checks
 * data and results on both sides. The definition stores nothing, and registers nothing.
 *
 * @typeParam In type of the data
 * @typeParam Out type of the result
 * @param type 1 to 64 letters, digits, `_`, `.` or `-`
 * @param options options of its submissions, where they give no others
 * @throws InvalidOptionsError
 *
 * @example
 * ```ts
 * const mail = defineTask<{ to: string }, { messageId: string }>('mail', { maxAttempts: 10 });
 * await tasks.submit(single(mail, 'order-7'), { to: 'ada@example.org' });
 * ```
 */
export function defineTask<In = unknown, Out = unknown>(
  type: string,
  options: Omit<SubmitOptions, 'tx'> = {},
): TaskDefinition<In, Out> {
  const faults = typeFaults(type);
  if (faults.length > 0) throw new InvalidOptionsError('the definition of a task', faults);
  parseSubmitOptions(type, options);
  return { type, options: { ...options } };
}
