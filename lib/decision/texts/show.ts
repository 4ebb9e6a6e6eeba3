import { escapeHidden } from './hidden-characters.js';

/** A value as an error or a line of a log can show it: on one line, never long, with nothing that a terminal obeys. */
export function show(value: unknown): string {
  const text = textOf(value);
  return escapeHidden(text.length > 60 ? `${text.slice(0, 50)}… (${text.length} characters)` : text);
}

/** Never calls the value itself: one from a request may have a `toString` of its own, or nest without end. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'function') return 'a function';
  if (value instanceof RegExp) return String(value);
  return typeof value === 'object' && value !== null ? Object.prototype.toString.call(value) : String(value);
}
