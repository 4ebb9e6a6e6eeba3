import { escapeHidden } from './hidden-characters.js';
import { show } from './show.js';

/**
 * The message of any thrown value, always a text. A job may throw a value that can't be converted to text, or an `Error`
 * whose message was replaced by null or by an object, as `Object.assign(error, body)` does with a body of JSON.
 */
export function messageOf(error: unknown): string {
  return fieldOf(error, 'message') ?? shown(error);
}

/** The name of an error, if it has one that is a text. */
export function nameOfError(error: unknown): string | undefined {
  return fieldOf(error, 'name');
}

/** The code of an error, if it has one that is a text. */
export function codeOfError(error: unknown): string | undefined {
  return fieldOf(error, 'code');
}

/** The stack of an error, if it has one that is a text. */
export function stackOf(error: unknown): string | undefined {
  return fieldOf(error, 'stack');
}

/** An error with its stack. The message takes one line, so that a reader can't mistake it for a stack frame. */
export function safeStack(error: Error): string {
  const head = `${nameOfError(error) ?? 'Error'}: ${messageOf(error)}`;
  const stack = stackOf(error) ?? head;
  const places = (stack.startsWith(head) ? stack.slice(head.length) : stack).split('\n').filter(isPlace);
  return [head, ...places].map(escapeHidden).join('\n');
}

function isPlace(line: string): boolean {
  return /^ +at /.test(line);
}

/** A field may have a getter that throws, and a proxy may throw at the question whether it is an error. */
function fieldOf(error: unknown, name: 'name' | 'message' | 'code' | 'stack'): string | undefined {
  try {
    const value: unknown = error instanceof Error ? (error as NodeJS.ErrnoException)[name] : undefined;
    return typeof value === 'string' ? value : undefined;
  } catch {
    // The caller shows something else in its place: a thrown value must not end the process that reports it.
    return undefined;
  }
}

function shown(error: unknown): string {
  try {
    // An error's own `toString` would show the message, which is no text.
    return error instanceof Error ? show(error.message) : String(error);
  } catch {
    // The value's own `toString` failed. `show` never calls it.
    return showSafely(error);
  }
}

function showSafely(value: unknown): string {
  try {
    return show(value);
  } catch {
    // A proxy may throw at each look. The text says so in the place of the value.
    return 'a value that can not be shown';
  }
}
