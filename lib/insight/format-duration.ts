const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
  [1, 'ms'],
] as const;

/** A duration in ms as people say it, by its two largest units: "1 h 30 min". */
export function formatDuration(duration: number): string {
  const first = UNITS.findIndex(([size]) => duration >= size);
  if (first === -1) return '0 ms';
  const shown = UNITS.slice(first, first + 2);
  let left = Math.round(duration / shown.at(-1)![0]) * shown.at(-1)![0];
  const parts = shown.map(([size, unit]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return count > 0 ? `${count} ${unit}` : '';
  });
  return parts.filter(Boolean).join(' ');
}

/** A moment as people read it, to the second. */
export function formatTime(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
