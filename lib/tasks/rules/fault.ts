import { messageWithCauses, nameOfError, stackWithCauses } from '../../core/decision/index.js';
import type { TaskFault } from './task.js';

const LONGEST_NAME = 200;
const LONGEST_MESSAGE = 2000;
const LONGEST_STACK = 4000;

/** The error in one line. */
export function faultText({ name, message }: Pick<TaskFault, 'name' | 'message'>): string {
  return message.startsWith(name) ? message : `${name}: ${message}`;
}

/**
 * An error as far as a task keeps it.
 *
 * @param error anything that was thrown
 * @param at cluster time in ms
 */
export function faultOf(error: unknown, at: number): TaskFault {
  const stack = stackWithCauses(error);
  return {
    name: (nameOfError(error) ?? 'Error').slice(0, LONGEST_NAME),
    message: messageWithCauses(error).slice(0, LONGEST_MESSAGE),
    at,
    ...(stack && { stack: stack.slice(0, LONGEST_STACK) }),
  };
}
