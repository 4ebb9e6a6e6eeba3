import { escapeHidden } from './hidden-characters.js';

/** A value for an error text or a log line: one short line without characters that control a terminal. */
export function show(value: unknown): string {
  const text = textOf(value);
  return escapeHidden(text.length > 60 ? `${text.slice(0, 50)}… (${text.length} characters)` : text);
}

/** Never calls methods of the value: a value of a request may have its own `toString`, or be nested very deep. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'function') return 'a function';
  if (value instanceof RegExp) return String(value);
  return typeof value === 'object' && value !== null ? kindOf(value) : String(value);
}

/** Names of a plain object's fields show which argument stands in the wrong place; their values may be secret. */
function kindOf(value: object): string {
  const kind = Object.prototype.toString.call(value);
  if (kind === '[object Date]') return 'a Date';
  if (kind !== '[object Object]') return kind;
  const className = classOf(value);
  if (className !== undefined) return `an instance of ${className}`;
  const names = Object.keys(value);
  const shown = names.slice(0, 3).join(', ');
  return names.length === 0 ? 'an empty object' : `an object with ${shown}${names.length > 3 ? ', …' : ''}`;
}

/** Name of the class of an instance; undefined for a plain object. Calls no getter of the value. */
function classOf(value: object): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return undefined;
  const made: unknown = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value;
  if (typeof made !== 'function' || made === Object) return undefined;
  const name: unknown = Object.getOwnPropertyDescriptor(made, 'name')?.value;
  return typeof name === 'string' && name !== '' ? name : undefined;
}
