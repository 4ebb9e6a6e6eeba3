/** A figure at a moment, in minutes. */
export interface Point {
  readonly at: number;
  readonly value: number;
}

/** How a figure moves: a line through the points, and how sure its slope is. */
export interface Trend {
  /** Per minute. */
  readonly slope: number;
  /** Between these the slope is, 99 times of 100. */
  readonly low: number;
  readonly high: number;
  /** The line's values at the first and at the last point. */
  readonly from: number;
  readonly to: number;
}

/** Of the normal distribution: 99 % are within so many deviations. */
const Z99 = 2.576;

/**
 * Theil-Sen: the median of the slopes between any two points. Up to 29 % of the points may be anything (a sample taken
 * in the middle of a reconnection) without moving it far. The interval is Sen's, from the variance of Kendall's tau.
 *
 * @param points at least two, in the order of time
 */
export function trendOf(points: readonly Point[]): Trend {
  const slopes = points.flatMap((one, index) =>
    points.slice(index + 1).map((other) => (other.value - one.value) / (other.at - one.at)),
  );
  const sorted = slopes.toSorted((one, other) => one - other);
  const slope = median(sorted);
  const count = points.length;
  const spread = Z99 * Math.sqrt((count * (count - 1) * (2 * count + 5)) / 18);
  const level = median(points.map(({ at, value }) => value - slope * at).toSorted((one, other) => one - other));
  return {
    slope,
    low: sorted[Math.max(0, Math.floor((sorted.length - spread) / 2))]!,
    high: sorted[Math.min(sorted.length - 1, Math.ceil((sorted.length + spread) / 2))]!,
    from: level + slope * points[0]!.at,
    to: level + slope * points.at(-1)!.at,
  };
}

function median(sorted: readonly number[]): number {
  const middle = sorted.length / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle) - 1]!) / 2;
}
