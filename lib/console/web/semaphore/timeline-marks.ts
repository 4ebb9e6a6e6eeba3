import type { AuditEntry, HistoryEntry, HolderOverview } from '../api/answers.js';
import { runHref } from '../parts/run-place.js';

/** A bar, or a point in time, on the timeline. */
export interface Mark {
  /** Index of its lane. There is one lane per node. Absent: it crosses all lanes. */
  readonly lane?: number;
  /** Cluster time in ms; the same as `to` for a point. */
  readonly from: number;
  readonly to: number;
  readonly kind: 'ok' | 'failed' | 'crashed' | 'lost' | 'running' | 'permit' | 'skip' | 'change';
  /** The mark in words. */
  readonly label: string;
  /** Error, reason. */
  readonly detail?: string;
  /** Page of the run. */
  readonly href?: string;
}

export interface TimelineMarks {
  /** Names of nodes, by lane. */
  readonly lanes: readonly string[];
  /** In the order in which they are drawn. */
  readonly marks: readonly Mark[];
  readonly from: number;
  readonly to: number;
}

/** The data of a timeline. */
export interface TimelineData {
  readonly holders: readonly HolderOverview[];
  readonly history: readonly HistoryEntry[];
  /** Changes of the semaphore, from the audit log. */
  readonly changes: readonly AuditEntry[];
}

/** Maximum number of lanes that a user can tell apart. They show the nodes that were active last. */
const MOST_LANES = 12;
/** Shortest time range in ms. A shorter one would be stretched over the whole width. */
const SHORTEST_RANGE = 5 * 60_000;

type Named = Omit<Mark, 'lane'> & { readonly name: string };

/**
 * Turns permits, runs, skips and changes into marks, with one lane per node, and computes their time range. A change
 * before the first of the others is left out, because it would stretch the range.
 */
export function timelineMarks({ holders, history, changes }: TimelineData, now: number): TimelineMarks {
  const named = [...holders.map(permitMark), ...history.map((entry) => entryMark(entry, now))];
  // A node that only skips has a lane if there is room.
  const active = [...named.filter(({ kind }) => kind !== 'skip'), ...named];
  const lanes = [...new Set(active.map(({ name }) => name))].slice(0, MOST_LANES).toSorted();
  const inLanes = named.flatMap(({ name, ...mark }) =>
    lanes.includes(name) ? [{ ...mark, lane: lanes.indexOf(name) }] : [],
  );
  const to = Math.max(now, ...inLanes.map((mark) => mark.to));
  const from = Math.min(to - SHORTEST_RANGE, ...inLanes.map((mark) => mark.from));
  const marks = [...changes.filter(({ at }) => at >= from).map(changeMark), ...inLanes];
  return { lanes, marks, from, to: to + (to - from) / 50 };
}

/** Identifies a mark while its end moves. */
export function keyOf({ kind, lane, from, label }: Mark): string {
  return `${kind} ${lane} ${from} ${label}`;
}

function permitMark({ acquirer, grantedAt, expiresAt, slot, token }: HolderOverview): Named {
  const label = `${acquirer} holds slot ${slot}, token ${token}`;
  return { name: acquirer, from: grantedAt, to: expiresAt, kind: 'permit', label };
}

function entryMark(entry: HistoryEntry, now: number): Named {
  const { job, at, node } = entry;
  const on = { name: node.acquirer, from: at, href: runHref(entry) };
  if (entry.kind === 'skip')
    return { ...on, to: at, kind: 'skip', label: `${job} skipped on ${node.acquirer}`, detail: entry.reason };
  if (entry.kind === 'running') return { ...on, to: now, kind: 'running', label: `${job} runs on ${node.acquirer}` };
  const { took, until = at, outcome, message } = entry;
  const label = `${job} on ${node.acquirer}: ${outcome}`;
  const to = took === undefined ? until : at + took;
  return { ...on, to, kind: outcome, label, ...(message !== undefined && { detail: message }) };
}

function changeMark({ at, by, action, reason }: AuditEntry): Mark {
  const detail = reason === undefined ? {} : { detail: `“${reason}”` };
  return { from: at, to: at, kind: 'change', label: `${by}: ${action}`, ...detail };
}
