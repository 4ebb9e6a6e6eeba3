import { signal } from '@preact/signals';
import { formatDuration } from '../../../operate/insight/format-duration.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How times are shown: as a distance from now, in the zone of the browser, or in UTC. */
export type Times = 'relative' | 'local' | 'UTC';

export const TIMES: readonly Times[] = ['relative', 'local', 'UTC'];
const KEY = 'gatekeeper-times';

/** The user's choice, which all tabs of this browser share. */
export const times = signal<Times>(TIMES.find((each) => each === globalThis.localStorage?.getItem(KEY)) ?? 'relative');

export function chooseTimes(chosen: Times): void {
  times.value = chosen;
  localStorage.setItem(KEY, chosen);
}

/** The same digits everywhere, because durations and tokens have no others. */
const DIGITS = { numberingSystem: 'latn' } as const;

/** Makes a formatter of ms since the epoch, which follows the user's choice. */
export function timeFormat(fields: Intl.DateTimeFormatOptions): (at: number) => string {
  const local = new Intl.DateTimeFormat(undefined, { ...DIGITS, hourCycle: 'h23', ...fields });
  const utc = new Intl.DateTimeFormat(undefined, { ...DIGITS, hourCycle: 'h23', ...fields, timeZone: 'UTC' });
  return (at) => (times.value === 'UTC' ? utc : local).format(at);
}

const dateAndTime = timeFormat({
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
});

/**
 * Formats ms since the epoch, with the zone. An invalid time, which another version may have written, must not break
 * the page.
 */
export function dateTime(at: number): string {
  return isTime(at) ? dateAndTime(at) : String(at);
}

const withSecond = timeFormat({
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
});

/** Formats a time without its year: "Nov 25, 03:21:43 UTC". */
export function dayTime(at: number): string {
  return isTime(at) ? withSecond(at) : String(at);
}

const day = timeFormat({ year: 'numeric', month: 'short', day: 'numeric' });
const timeOfDay = timeFormat({ hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short' });
const dayAndMinute = timeFormat({
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
});

/** Formats a time in few characters: "03:21:43 UTC" on the day of `now`, otherwise "Nov 24, 03:21 UTC". */
export function shortTime(at: number, now: number): string {
  if (!isTime(at)) return String(at);
  return day(at) === day(now) ? timeOfDay(at) : dayAndMinute(at);
}

export function isoTime(at: number): string | undefined {
  return isTime(at) ? new Date(at).toISOString() : undefined;
}

function isTime(at: number): boolean {
  return Math.abs(at) <= 8.64e15;
}

/** Formats the remaining ms: 582000 -> "9:42". */
export function countdown(left: number): string {
  if (left <= 0) return '0:00';
  if (left >= DAY) return formatDuration(left);
  const seconds = Math.ceil(left / SECOND);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const tail = String(seconds % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${tail}` : `${minutes}:${tail}`;
}

/** Formats the distance between two times: "12 s ago", "in 3 min", "now". */
export function distance(from: number, now: number): string {
  const away = Math.abs(now - from);
  if (away < 2 * SECOND) return 'now';
  const rough = away < MINUTE ? `${Math.round(away / SECOND)} s` : coarse(away);
  return from < now ? `${rough} ago` : `in ${rough}`;
}

function coarse(away: number): string {
  if (away < HOUR) return `${Math.round(away / MINUTE)} min`;
  return away < 2 * DAY ? `${Math.round(away / HOUR)} h` : `${Math.round(away / DAY)} d`;
}

const grouped = new Intl.NumberFormat(undefined, DIGITS);

/** Formats a number with separators: "12,345". */
export function digits(number: number): string {
  return grouped.format(number);
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${digits(number)} ${number === 1 ? one : many}`;
}
