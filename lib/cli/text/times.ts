const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const;

/** A duration as one would write it for `--duration`, and exact: "10m", "90s", "1500ms". */
export function durationText(ms: number): string {
  const [unit, size] = UNITS.find(([, length]) => ms % length === 0) ?? UNITS[4];
  return `${ms / size}${unit}`;
}

/** How long, for people: the two largest units, "1h 5m", "4m 12s", "3s"; nothing below a second. */
export function spanText(ms: number): string {
  if (ms < 1000) return ms < 0 ? 'over' : '<1s';
  const first = UNITS.findIndex(([, size]) => ms >= size);
  const [unit, size] = UNITS[first]!;
  const [nextUnit, nextSize] = UNITS[first + 1]!;
  const rest = Math.floor((ms % size) / nextSize);
  return `${Math.floor(ms / size)}${unit}${rest > 0 && nextUnit !== 'ms' ? ` ${rest}${nextUnit}` : ''}`;
}

/** A moment to the second, in UTC as all logs have it: "2026-11-21 16:40:05Z". */
export function timeText(at: number): string {
  return Number.isFinite(at) && Math.abs(at) <= 8.64e15
    ? `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}Z`
    : '?';
}
