/**
 * Histogram of durations: how many fell into each class, sorted by class. Four classes per doubling, so a percentile is at
 * most 10 % off. Histograms of several nodes and days can be added.
 */
export type Durations = readonly (readonly [durationClass: number, count: number])[];

/** Classes per doubling of the duration. */
const PER_DOUBLING = 4;
/** Class of the longest duration that a record may have, and one more. */
export const MOST_CLASSES = 200;

/** The class of a duration: 0 below 1 ms, 1 from 1 ms. @param took ms */
export function classOf(took: number): number {
  return took < 1 ? 0 : Math.min(MOST_CLASSES - 1, 1 + Math.floor(PER_DOUBLING * Math.log2(took)));
}

/** A duration in the middle of a class, in ms. */
function middleOf(durationClass: number): number {
  return durationClass === 0 ? 0 : 2 ** ((durationClass - 0.5) / PER_DOUBLING);
}

/** Adds histograms. */
export function addedDurations(...all: readonly Durations[]): Durations {
  const counts = new Map<number, number>();
  for (const [durationClass, count] of all.flat()) counts.set(durationClass, (counts.get(durationClass) ?? 0) + count);
  return [...counts].toSorted(([one], [other]) => one - other);
}

export function countOf(durations: Durations): number {
  return durations.reduce((sum, [, count]) => sum + count, 0);
}

/**
 * The duration in ms that this part of the runs did not exceed.
 *
 * @param part 0.95 for p95
 * @returns undefined without durations
 */
export function percentile(durations: Durations, part: number): number | undefined {
  let missing = Math.ceil(countOf(durations) * part);
  for (const [durationClass, count] of durations) {
    missing -= count;
    if (missing <= 0) return Math.round(middleOf(durationClass));
  }
  return undefined;
}
