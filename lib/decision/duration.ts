import ms from 'ms';
import { show } from './texts/show.js';

/** A number of ms, or text in the format of the `ms` package: "500ms", "10s", "5m", "1h". */
export type DurationInput = number | string;

/** A year and a day: longer than any useful lease, and far below the limits of safe integers. */
export const LONGEST_DURATION = 366 * 24 * 60 * 60 * 1000;

/**
 * Reads a duration.
 *
 * @returns whole ms, or a sentence (for people, without the field's name) that says what is wrong
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
  // `ms` throws for these values, and its error would end the validation of all options.
  if (typeof value !== 'string' || value === '' || value.length > 100) return undefined;
  return ms(value as ms.StringValue);
}
