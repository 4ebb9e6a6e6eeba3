import ms from 'ms';
import { escapeHidden } from './texts/hidden-characters.js';

/** ms as a number, or text as the `ms` package reads it: "500ms", "10s", "5m", "1h". */
export type DurationInput = number | string;

/** A year and a day: longer than any lease that makes sense, and far from the limits of timers and safe integers. */
export const LONGEST_DURATION = 366 * 24 * 60 * 60 * 1000;

/**
 * Reads a duration.
 *
 * @returns whole ms, or a sentence (for people, without the field's name) that says what is wrong with the value
 */
export function readDuration(value: unknown): number | string {
  const read = typeof value === 'number' ? value : readText(value);
  if (read === undefined || !Number.isFinite(read)) {
    return `${show(value)} is not a duration: give ms as a number, or text such as "30s", "5m", "1h"`;
  }
  if (read <= 0) return `${show(value)} must be more than 0 ms`;
  if (read > LONGEST_DURATION) return `${show(value)} is longer than a year: a permit must expire`;
  return Math.ceil(read);
}

function readText(value: unknown): number | undefined {
  // What `ms` throws for, it would throw out of the validation of all options.
  if (typeof value !== 'string' || value === '' || value.length > 100) return undefined;
  return ms(value as ms.StringValue);
}

/** A value as an error or a line of a log can show it: on one line, never long, nothing in it that a terminal obeys. */
export function show(value: unknown): string {
  const text = textOf(value);
  return escapeHidden(text.length > 60 ? `${text.slice(0, 50)}… (${text.length} characters)` : text);
}

/** Never asks the value itself: what a request brings along may have a `toString` of its own, or nest without end. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'function') return 'a function';
  if (value instanceof RegExp) return String(value);
  return typeof value === 'object' && value !== null ? Object.prototype.toString.call(value) : String(value);
}
