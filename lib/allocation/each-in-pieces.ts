import type { Pieces } from '../core/async/slices.js';

/** Number of items in one piece: at most 1 ms of work, also with the longest ids. */
const PIECE = 500;

/** Visits all items, in pieces: a loop over 100,000 resources would block the event loop. */
export function* eachInPieces<T>(items: Iterable<T>, visit: (item: T) => void): Pieces<void> {
  let count = 0;
  for (const item of items) {
    visit(item);
    if (++count % PIECE === 0) yield PIECE;
  }
}
