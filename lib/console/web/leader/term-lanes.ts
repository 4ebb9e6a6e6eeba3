import type { TermOverview } from '../api/answers.js';

/** A term on its lane, or a time without a leader. Times are ms since the epoch. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface TermSpan extends Span {
  readonly term: TermOverview;
}

export interface Lane {
  /** "group / acquirer" */
  readonly node: string;
  readonly name: string;
  readonly terms: readonly TermSpan[];
}

export interface TermLanes extends Span {
  /** One lane per node, sorted by name. A node that was started again keeps its lane. */
  readonly lanes: readonly Lane[];
  /** Times without a leader, oldest first. */
  readonly gaps: readonly Span[];
}

/** ms. A handover takes some milliseconds. Only longer times without a leader are shown. */
const SHORTEST_GAP = 1000;
/** Shortest range in ms. A shorter one would be stretched over the whole width. */
const SHORTEST_RANGE = 60_000;

/**
 * Arranges terms on lanes.
 *
 * @param terms newest first
 * @param range ms before now; undefined: from the oldest term on
 */
export function termLanes(terms: readonly TermOverview[], now: number, range: number | undefined): TermLanes {
  const spans = terms.map((term) => ({ term, from: term.from, to: term.to ?? now })).toReversed();
  const from = Math.min(now - SHORTEST_RANGE, range === undefined ? (spans[0]?.from ?? now) : now - range);
  const shown = spans.filter(({ to }) => to > from);
  const byNode = new Map<string, TermSpan[]>();
  for (const span of shown) {
    const { group, acquirer } = span.term.node;
    const node = `${group} / ${acquirer}`;
    byNode.set(node, [...(byNode.get(node) ?? []), { ...span, from: Math.max(from, span.from) }]);
  }
  const lanes = [...byNode].map(([node, ofNode]) => ({ node, name: ofNode[0]!.term.node.acquirer, terms: ofNode }));
  return {
    from,
    to: now,
    lanes: lanes.toSorted((one, other) => (one.node < other.node ? -1 : 1)),
    gaps: gapsOf(spans, now).flatMap((gap) => (gap.to > from ? [{ ...gap, from: Math.max(from, gap.from) }] : [])),
  };
}

/** Times between terms, and after the last one. Before the oldest one nothing is known. */
function gapsOf(spans: readonly TermSpan[], now: number): Span[] {
  const gaps: Span[] = [];
  let ledUntil = spans[0]?.from ?? now;
  for (const { from, to } of spans) {
    if (from - ledUntil > SHORTEST_GAP) gaps.push({ from: ledUntil, to: from });
    ledUntil = Math.max(ledUntil, to);
  }
  return now - ledUntil > SHORTEST_GAP ? [...gaps, { from: ledUntil, to: now }] : gaps;
}

const MINUTE = 60_000;
/** Possible distances of two times on the axis, in ms. */
const STEPS = [1 / 6, 0.5, 1, 5, 15, 30, 60, 180, 360, 720, 1440, 2880, 10_080].map((minutes) => minutes * MINUTE);
const MOST_TICKS = 6;

/** The part of the range at its end in which a label would not fit. */
const LABEL = 0.07;

/** Round times for the axis. */
export function ticksOf({ from, to }: Span): number[] {
  const step = STEPS.find((each) => (to - from) / each <= MOST_TICKS) ?? STEPS.at(-1)!;
  // A day begins at midnight of the user's time zone.
  const zone = new Date(to).getTimezoneOffset() * MINUTE;
  const first = Math.ceil((from - zone) / step) * step + zone;
  const last = to - LABEL * (to - from);
  return Array.from({ length: Math.max(0, Math.ceil((last - first) / step)) }, (_, index) => first + index * step);
}
