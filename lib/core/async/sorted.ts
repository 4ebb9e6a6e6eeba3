import type { Pieces } from './slices.js';

/** Number of items that are sorted or merged in one piece. */
const RUN = 500;

/** Like `toSorted` (stable), but in pieces: to sort thousands of items in one go would block the event loop. */
export function* sortedInPieces<T>(items: readonly T[], compare: (one: T, other: T) => number): Pieces<T[]> {
  let runs: T[][] = [];
  for (let start = 0; start < items.length; start += RUN) {
    runs.push(items.slice(start, start + RUN).toSorted(compare));
    yield RUN;
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let index = 0; index < runs.length; index += 2) {
      merged.push(yield* mergedInPieces(runs[index]!, runs[index + 1] ?? [], compare));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* mergedInPieces<T>(first: T[], second: T[], compare: (one: T, other: T) => number): Pieces<T[]> {
  const merged: T[] = [];
  let [one, other] = [0, 0];
  while (one < first.length || other < second.length) {
    const isFirst = other === second.length || (one < first.length && compare(first[one]!, second[other]!) <= 0);
    merged.push(isFirst ? first[one++]! : second[other++]!);
    if (merged.length % RUN === 0) yield RUN;
  }
  return merged;
}
