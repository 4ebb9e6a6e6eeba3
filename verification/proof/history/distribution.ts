/** How some durations were spread, in ms. */
export interface Distribution {
  readonly count: number;
  readonly median?: number;
  readonly p99?: number;
  readonly max?: number;
}

export function distributionOf(values: readonly number[]): Distribution {
  const sorted = values.toSorted((one, other) => one - other);
  /** The least value that so many of all don't exceed. */
  const share = (part: number) => sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)];
  return { count: sorted.length, median: share(0.5), p99: share(0.99), max: sorted.at(-1) };
}
