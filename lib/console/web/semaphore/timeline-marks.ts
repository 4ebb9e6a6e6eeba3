import type { HistoryEntry, HolderState } from '../api/answers.js';

/** A bar on the timeline. */
export interface Mark {
  /** Index of its lane. There is one lane per node. */
  readonly lane: number;
  readonly from: number;
  readonly to: number;
  readonly kind: 'ok' | 'failed' | 'crashed' | 'lost' | 'permit';
  /** The bar in words. */
  readonly label: string;
}

export interface TimelineMarks {
  /** Names of nodes, by lane. */
  readonly lanes: readonly string[];
  readonly marks: readonly Mark[];
  readonly from: number;
  readonly to: number;
}

/** Maximum number of lanes that a user can tell apart. They show the nodes that were active last. */
const MOST_LANES = 12;
/** Shortest time range in ms. A shorter one would be stretched over the whole width. */
const SHORTEST_RANGE = 5 * 60_000;

/** Turns runs and permits into bars, with one lane per node, and computes their time range. */
export function timelineMarks(
  holders: readonly HolderState[],
  history: readonly HistoryEntry[],
  now: number,
): TimelineMarks {
  const runs = history.filter((entry) => entry.kind === 'run');
  const names = [...new Set([...holders.map(({ acquirer }) => acquirer), ...runs.map(({ node }) => node.acquirer)])];
  const lanes = names.slice(0, MOST_LANES).toSorted();
  const bars = [
    ...holders.map(({ acquirer, grantedAt, expiresAt, slot, token }) => ({
      name: acquirer,
      from: grantedAt,
      to: expiresAt,
      kind: 'permit' as const,
      label: `${acquirer} holds slot ${slot}, token ${token}`,
    })),
    ...runs.map(({ node, at, took, until = at, outcome, job }) => ({
      name: node.acquirer,
      from: at,
      to: took === undefined ? until : at + took,
      kind: outcome,
      label: `${job} on ${node.acquirer}: ${outcome}`,
    })),
  ];
  const marks = bars.flatMap(({ name, ...bar }) =>
    lanes.includes(name) ? [{ lane: lanes.indexOf(name), ...bar }] : [],
  );
  const to = Math.max(now, ...marks.map((mark) => mark.to));
  const from = Math.min(to - SHORTEST_RANGE, ...marks.map((mark) => mark.from));
  return { lanes, marks, from, to: to + (to - from) / 50 };
}
