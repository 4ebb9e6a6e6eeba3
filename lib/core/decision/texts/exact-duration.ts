// This file must import nothing, because it is also part of the console's page.

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1000, 's'],
] as const;

/** Formats ms exactly, in the form that options accept: "10m", "90s", "1500ms". */
export function exactDuration(duration: number): string {
  const [size, unit] = UNITS.find(([each]) => duration >= each && duration % each === 0) ?? [1, 'ms'];
  return `${duration / size}${unit}`;
}
