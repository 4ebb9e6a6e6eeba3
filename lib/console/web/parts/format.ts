import { formatDuration } from '../../../insight/format-duration.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const dateAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });

/** Formats ms since the epoch. An invalid time, which another version may have written, must not break the page. */
export function dateTime(at: number): string {
  return isTime(at) ? dateAndTime.format(at) : String(at);
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

/** Shortens a random id to its first 8 characters. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString()} ${number === 1 ? one : many}`;
}
