import { escapeHidden } from './hidden-characters.js';
import { show } from './show.js';

/** Causes, and errors of an AggregateError, that a text tells of. */
const MOST_CAUSES = 8;
/** Characters of the message, and of the stack, of each of them. */
const LONGEST_OF_CAUSE = { message: 500, stack: 1000 };
/** Characters of a text in which a message is looked for. */
const LOOKED_THROUGH = 4000;

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

/**
 * The message of a thrown value with those of its causes, and of the errors of an AggregateError: "fetch failed: connect
 * ECONNREFUSED 127.0.0.1:9". One that the text contains already is left out, and so are those after the first eight.
 */
export function messageWithCauses(error: unknown): string {
  let text = messageOf(error);
  for (const { cause, place } of causesOf(error)) {
    const message = messageOf(cause).slice(0, LONGEST_OF_CAUSE.message);
    if (text.slice(0, LOOKED_THROUGH).includes(message)) continue;
    text += text === '' ? message : `${place === 0 ? ': ' : '; '}${message}`;
  }
  return text;
}

/** The stack of an error with those of its causes, as {@link messageWithCauses}; undefined if none has one that is a text. */
export function stackWithCauses(error: unknown): string | undefined {
  const stacks = causesOf(error).flatMap(({ cause }) => stackOf(cause)?.slice(0, LONGEST_OF_CAUSE.stack) ?? []);
  const all = [stackOf(error) ?? [], ...stacks.map((stack) => `Caused by: ${stack}`)].flat();
  return all.length > 0 ? all.join('\n') : undefined;
}

interface Cause {
  readonly cause: unknown;
  /** Among the causes of the same error, from 0. */
  readonly place: number;
}

/** Each one before its own causes. One that is its own cause comes once. */
function causesOf(error: unknown): Cause[] {
  const seen = new Set([error]);
  const found: Cause[] = [];
  const walk = (of: unknown) => {
    for (const [place, cause] of innerOf(of).entries()) {
      if (found.length === MOST_CAUSES || seen.has(cause)) continue;
      seen.add(cause);
      found.push({ cause, place });
      walk(cause);
    }
  };
  walk(error);
  return found;
}

/** A field may have a getter that throws, as in {@link fieldOf}. */
function innerOf(error: unknown): unknown[] {
  try {
    if (!(error instanceof Error)) return [];
    const { cause, errors } = error as Partial<AggregateError>;
    const all = [cause, ...(Array.isArray(errors) ? errors.slice(0, MOST_CAUSES) : [])];
    return all.filter((each) => each !== undefined && each !== null);
  } catch {
    // A getter of the application's error threw. Its message is shown without causes.
    return [];
  }
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
