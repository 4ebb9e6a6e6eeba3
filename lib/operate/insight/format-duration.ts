// This file must import nothing, because it is also part of the console's page.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const PAIRS = [
  [DAY, 'd', HOUR, 'h'],
  [HOUR, 'h', MINUTE, 'min'],
  [MINUTE, 'min', SECOND, 's'],
] as const;

/** Formats ms for people: "250 ms", "1.5 s". From a minute on it gives the two largest units: "1 h 30 min". */
export function formatDuration(duration: number): string {
  const whole = Math.max(0, Math.round(duration));
  if (whole < SECOND) return `${whole} ms`;
  const tenths = Math.round(whole / 100);
  if (tenths < 600) return `${tenths / 10} s`;
  const [size, unit, smallSize, smallUnit] =
    PAIRS.find(([large, , small]) => rounded(whole, small) >= large) ?? PAIRS[2];
  const rest = (rounded(whole, smallSize) % size) / smallSize;
  return `${Math.floor(rounded(whole, smallSize) / size)} ${unit}${rest > 0 ? ` ${rest} ${smallUnit}` : ''}`;
}

function rounded(duration: number, unit: number): number {
  return Math.round(duration / unit) * unit;
}

/** Formats ms since the epoch for people: "2026-01-31 12:00:00 UTC". */
export function formatTime(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
