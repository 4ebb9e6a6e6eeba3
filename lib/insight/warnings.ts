import { type SemaphoreDefinition, escapeHidden, patternFaults, shortestDuration } from '../decision/index.js';
import type { SemaphoreState } from './state.js';

import { groupedBy } from './grouped.js';
import { type ScheduledJob, clusterTimeOf } from './scheduled-job.js';
import { formatDuration, formatTime } from './format-duration.js';
import type { NodeInfo, RunEntry } from '../activity/index.js';

/** Facts about one semaphore besides its state. */
export interface SemaphoreFacts {
  /** Cluster time, ms since the epoch. */
  readonly now: number;
  /** clockTolerance of the reporting node, in ms. */
  readonly clockTolerance: number;
  /** Its jobs on living nodes. */
  readonly jobs: readonly ScheduledJob[];
  /** The newest run of each of its jobs. */
  readonly runs: readonly RunEntry[];
  /** All living nodes. */
  readonly nodes: readonly NodeInfo[];
  /** Nodes that the definition matches, without regard to a pause. */
  readonly passing: ReadonlySet<NodeInfo>;
}

/** A condition that an operator should look into. */
export interface Warning {
  /**
   * Identifies the warning, for programs. `not-run`: a job missed three runs in a row. `runs-too-long`: a run took
   * longer than the time between two runs. `no-node`: no living node matches. `unusable-pattern`: a pattern can't be
   * used. `duration-too-short`: the duration is too short for this node's clockTolerance.
   */
  readonly code: 'not-run' | 'runs-too-long' | 'no-node' | 'unusable-pattern' | 'duration-too-short';
  /** The warning for people, with advice where possible. */
  readonly sentence: string;
}

/** A job gets a warning after this many missed runs in a row. */
export const MISSES = 3;
/** ms by which a run may begin before its planned time, because clocks differ. */
const SLACK = 1000;

/**
 * Finds the warnings of one semaphore. Pure.
 *
 * @param definition the definition without regard to a pause
 */
export function warningsOf(state: SemaphoreState, definition: SemaphoreDefinition, facts: SemaphoreFacts): Warning[] {
  // The sentences contain names and patterns, which may have control characters.
  return found(state, definition, facts).map(({ code, sentence }) => ({ code, sentence: escapeHidden(sentence) }));
}

function found(state: SemaphoreState, definition: SemaphoreDefinition, facts: SemaphoreFacts): Warning[] {
  const ofDuration = [
    ...tooShort(definition, facts.clockTolerance),
    ...facts.runs.flatMap((run) => tooLongRun(run, facts.jobs)),
  ];
  // Checked also during a pause, because no job would run after it.
  const unusable = patternFaults(definition).map((sentence) => ({ code: 'unusable-pattern' as const, sentence }));
  if (unusable.length > 0 || state.pause) return [...unusable, ...ofDuration];
  const without = noNode(definition, facts);
  return [...without, ...(without.length > 0 ? [] : notRun(state, facts)), ...ofDuration];
}

/** This happens if a node with a smaller tolerance has defined it. */
function tooShort({ duration }: SemaphoreDefinition, clockTolerance: number): Warning[] {
  const shortest = shortestDuration(clockTolerance);
  if (duration >= shortest) return [];
  const sentence =
    `its duration of ${duration} ms is too short for the clockTolerance of ${clockTolerance} ms of this node, ` +
    `which grants permits of ${shortest} ms instead: lengthen the duration or lower the tolerance`;
  return [{ code: 'duration-too-short', sentence }];
}

/** Without registry entries there is no warning: nodes may live without a heartbeat. */
function noNode({ groupPattern, acquirerPattern }: SemaphoreDefinition, { nodes, passing }: SemaphoreFacts): Warning[] {
  const { length } = nodes;
  if (length === 0 || passing.size > 0) return [];
  const who = length === 1 ? 'the only living node does not match' : `none of the ${length} living nodes matches`;
  const sentence = `${who} groupPattern "${groupPattern}" and acquirerPattern "${acquirerPattern}": nothing can run`;
  return [{ code: 'no-node', sentence }];
}

function tooLongRun({ job, took, at, node }: RunEntry, jobs: readonly ScheduledJob[]): Warning[] {
  const intervals = jobs.flatMap(({ card }) => (card.job === job ? (card.schedule?.interval ?? []) : []));
  const interval = Math.min(...intervals);
  if (took === undefined || !(took > interval)) return [];
  const sentence =
    `the last run of ${job} took ${formatDuration(took)} (started ${formatTime(at)}, on ${node.acquirer}): ` +
    `longer than the ${formatDuration(interval)} until it is due again`;
  return [{ code: 'runs-too-long', sentence }];
}

/** Finds jobs that missed {@link MISSES} runs in a row although a matching node has lived that long. */
function notRun(state: SemaphoreState, facts: SemaphoreFacts): Warning[] {
  const byName = groupedBy(facts.jobs, ({ card }) => card.job);
  return [...byName].flatMap(([name, jobs]) => {
    const since = Math.max(
      ...jobs.filter(({ node }) => facts.passing.has(node)).flatMap((job) => missesSince(job, facts)),
    );
    if (since === -Infinity) return [];
    const run = facts.runs.find(({ job }) => job === name);
    // With several jobs a grant may belong to another one, so a known run of this job counts alone.
    const sign = run && byName.size > 1 ? run.at : Math.max(run?.at ?? 0, signOfLife(state, facts.now));
    if (Math.max(sign, state.change?.at ?? 0) >= since - SLACK) return [];
    const last = sign > 0 ? `it ran last ${formatTime(sign)}` : 'no run of it is known';
    const sentence = `${name} was due ${MISSES} times since ${formatTime(since)} and did not run: ${last}`;
    return [{ code: 'not-run' as const, sentence }];
  });
}

/**
 * @returns cluster time at which the first of the last {@link MISSES} runs was due; empty if the node did not live then
 */
function missesSince({ card, node }: ScheduledJob, { now }: SemaphoreFacts): number[] {
  const { recent, next, interval, kind } = card.schedule ?? {};
  if (kind === 'timeout') return [];
  const first = recent ? recent.at(-MISSES) : next && interval && next - MISSES * interval;
  if (first === undefined) return [];
  const since = clusterTimeOf(first, node);
  return node.startedAt <= since && since <= now ? [since] : [];
}

/**
 * Returns the last time at which a job may have run. A live permit may belong to a run in progress; a grant starts a
 * run.
 */
function signOfLife({ holders, lastGrantAt = 0 }: SemaphoreState, now: number): number {
  if (holders.some(({ remaining }) => remaining > 0)) return now;
  return Math.max(lastGrantAt, ...holders.map(({ expiresAt, duration }) => expiresAt - duration));
}
