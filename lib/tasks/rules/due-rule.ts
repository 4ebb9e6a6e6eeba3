/** Nodes that wait for the next due time: the holders of a permit to sweep. The rank is the permit's slot. */
export const RANKS = 3;
/** ms by which each rank looks later than the one before it. */
const STEP = 25;
/** ms by which a node without a rank looks later. */
const UNRANKED = 100;
/** ms between the begins of two looks, at least. */
const SHORTEST = 10;

/** State of one node, in ms from now. */
interface Knowledge {
  /** Rank of the node; undefined if it has none. */
  readonly rank: number | undefined;
  /** Time until the next due time that the last look read. */
  readonly readIn?: number | undefined;
  /** Time until the next due time that this process wrote. */
  readonly ownIn?: number | undefined;
  /** Time until the regular look; undefined if this node makes none, because it handles no tasks. */
  readonly regularIn?: number | undefined;
  /** Patience of the last look, if it left more to do at once. */
  readonly more?: number | undefined;
  /** Time since the last look began. */
  readonly since: number;
}

/** A planned look. */
export interface PlannedLook {
  /** ms until it begins. */
  readonly wait: number;
  /** It takes what has been due for so many ms. */
  readonly patience: number;
}

/** ms that a node of this rank leaves to the ranks before it. */
export function patienceOf(rank: number | undefined): number {
  return rank === undefined ? UNRANKED : STEP * rank;
}

/**
 * The next look of a node at work whose time has come:
 *
 *     the process that wrote a due time     at that time, while it lives
 *     rank 0                                at each due time that it has read
 *     ranks 1 and 2                         25 and 50 ms later
 *     all others                            about once a second, for what has been due for 100 ms
 *
 * So work begins in time as long as one of the first four lives, and within about a second whichever nodes die. The nodes
 * without a rank plan no look at a due time that they have read: all of them would come at once.
 *
 * @returns undefined if the node has nothing to look for
 */
export function nextLook({ rank, readIn, ownIn, regularIn, more, since }: Knowledge): PlannedLook | undefined {
  const patience = patienceOf(rank);
  const looks: PlannedLook[] = [];
  if (more !== undefined) looks.push({ wait: 0, patience: more });
  if (ownIn !== undefined) looks.push({ wait: ownIn, patience: 0 });
  if (readIn !== undefined && rank !== undefined) looks.push({ wait: readIn + patience, patience });
  if (regularIn !== undefined) looks.push({ wait: regularIn, patience });
  if (looks.length === 0) return undefined;
  const first = looks.reduce((one, other) => (other.wait < one.wait ? other : one));
  return { ...first, wait: Math.max(first.wait, SHORTEST - since, 0) };
}

/**
 * Whether a node takes work that is due, or leaves it to the others. Ranks 1 and 2 take it only if the first of it stays
 * where it was at the look before: otherwise an earlier rank is at work, and both would write the same.
 *
 * @param first text of the first work that is due
 * @param seen first text that was not taken by the look before
 */
export function isLeft(patience: number, first: string, seen: string | undefined): boolean {
  return patience === 0 || patience >= UNRANKED || first === seen;
}
