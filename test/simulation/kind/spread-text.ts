/** Median and the like of times in ms, for people. */
export function spreadText(values: readonly number[], late: number): string {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]?.toFixed(0);
  const later = sorted.filter((value) => value > late).length;
  return `median ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)} (${values.length} schedules, ${later} of them after more than ${late})`;
}
