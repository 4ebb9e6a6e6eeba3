import ms from 'ms';
import { show } from './texts/show.js';

/**
 * A number of ms, or text: in the format of the `ms` package ("500ms", "10s", "5m", "1h"), or an ISO 8601 duration
 * ("PT10M", "P1DT2H30M").
 */
export type DurationInput = number | string;

/** A year and a day: longer than any useful lease, and far below the limits of safe integers. */
export const LONGEST_DURATION = 366 * 24 * 60 * 60 * 1000;

/** Ten years, in ms. */
const LONGEST_KEEPING = 10 * LONGEST_DURATION;

/**
 * Reads a duration.
 *
 * @returns whole ms, or a sentence (for people, without the field's name) that says what is wrong
 */
export function readDuration(value: unknown): number | string {
  return readAbove(value, Number.MIN_VALUE, 'must be more than 0 ms');
}

/** {@link readDuration}, but 0 is allowed, in every spelling: 0, "0s", "PT0S". */
export function readDelay(value: unknown): number | string {
  return readAbove(value, 0, 'must be 0 ms or more');
}

/** {@link readDuration}, but of up to ten years: how long something is kept. */
export function readKeeping(value: unknown): number | string {
  const limit = { longest: LONGEST_KEEPING, tooLong: 'is longer than ten years: copy what you need for longer' };
  return readAbove(value, Number.MIN_VALUE, 'must be more than 0 ms', limit);
}

const USUAL = { longest: LONGEST_DURATION, tooLong: 'is longer than a year: give at most 366 days' };

function readAbove(value: unknown, least: number, tooShort: string, { longest, tooLong } = USUAL): number | string {
  const read = typeof value === 'number' ? value : readText(value);
  if (read === 'calendar') return `${show(value)} has years or months, and these differ in length: give days ("P30D")`;
  if (read === undefined || !Number.isFinite(read)) {
    return `${show(value)} is not a duration: give ms as a number, or text such as "30s", "5m", "1h", "PT5M"`;
  }
  if (read < least) return `${show(value)} ${tooShort}`;
  if (read > longest) return `${show(value)} ${tooLong}`;
  // Not -0, which "-0s" is.
  return Math.ceil(read) + 0;
}

/** ms; `'calendar'` for years and months; undefined for text that is no duration. */
type ReadText = number | 'calendar' | undefined;

function readText(value: unknown): ReadText {
  // `ms` throws for these values, and its error would end the validation of all options.
  if (typeof value !== 'string' || value === '' || value.length > 100) return undefined;
  const iso = ISO_DURATION.exec(value);
  return iso ? readIso(iso.groups!) : ms(value as ms.StringValue);
}

const AMOUNT = String.raw`\d+(?:[.,]\d+)?`;
const date = ['year', 'month', 'week', 'day'].map(part);
const time = ['hour', 'minute', 'second'].map(part);
/** A sign is no part of ISO 8601, but Java writes one. As in Java, small letters are read as well. */
const ISO_DURATION = new RegExp(String.raw`^(?<sign>[+-]?)P(?=T?\d)${date.join('')}(?:T(?=\d)${time.join('')})?$`, 'i');

function part(name: string): string {
  return `(?:(?<${name}>${AMOUNT})${name[0]})?`;
}

/** ms; the longest unit first. */
const UNITS = { week: 604_800_000, day: 86_400_000, hour: 3_600_000, minute: 60_000, second: 1000 };

function readIso(groups: Partial<Record<string, string>>): ReadText {
  if (groups['year'] ?? groups['month']) return 'calendar';
  const parts = Object.entries(UNITS).flatMap(([name, unit]) => (groups[name] ? [{ amount: groups[name], unit }] : []));
  // Only the last part may have a fraction: "PT1.5H30M" is more likely a mistake than a duration.
  if (parts.slice(0, -1).some(({ amount }) => /[.,]/.test(amount))) return undefined;
  const sum = parts.reduce((total, { amount, unit }) => total + msOf(amount, unit), 0);
  return groups['sign'] === '-' ? -sum : sum;
}

/** Exact, and rounded up to whole ms: with floating-point numbers "PT2.007S" would be 2,008 ms. */
function msOf(amount: string, unit: number): number {
  const [whole, fraction = ''] = amount.split(/[.,]/);
  const scale = 10n ** BigInt(fraction.length);
  return Number((BigInt(whole + fraction) * BigInt(unit) + scale - 1n) / scale);
}
