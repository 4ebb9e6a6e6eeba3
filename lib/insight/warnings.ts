import { type SemaphoreDefinition, escapeHidden, patternFaults, shortestDuration } from '../decision/index.js';
import type { SemaphoreState } from './state.js';

import { groupedBy } from './grouped.js';
import { type ScheduledJob, clusterTimeOf } from './scheduled-job.js';
import { formatDuration, formatTime } from './format-duration.js';
import type { NodeInfo, RunEntry } from '../activity/index.js';

/** Facts about one semaphore besides its state. */
export interface SemaphoreFacts {
  /** Cluster time in ms. */
  readonly now: number;
  /** ms; of the reporting node. */
  readonly clockTolerance: number;
  /** Its jobs on living nodes. */
  readonly jobs: readonly ScheduledJob[];
  /** The newest run of each of its jobs. */
  readonly runs: readonly RunEntry[];
  /** All living nodes. */
  readonly nodes: readonly NodeInfo[];
  /** Nodes that the definition matches when it isn't paused. */
  readonly passing: ReadonlySet<NodeInfo>;
}

/** A condition that an operator should look into. */
export interface Warning {
  /** Names the warning, for programs. */
  readonly code: 'not-run' | 'runs-too-long' | 'no-node' | 'unusable-pattern' | 'duration-too-short';
  /** For people. */
  readonly sentence: string;
}

/** Misses in a row after which a job gets a warning. */
export const MISSES = 3;
/** ms by which a run may begin before its planned time in cluster time. */
const SLACK = 1000;

/**
 * Pure.
 *
 * @param definition as it is without a pause
 */
export function warningsOf(state: SemaphoreState, definition: SemaphoreDefinition, facts: SemaphoreFacts): Warning[] {
  // Sentences contain names and patterns from other sources.
  return found(state, definition, facts).map(({ code, sentence }) => ({ code, sentence: escapeHidden(sentence) }));
}

function found(state: SemaphoreState, definition: SemaphoreDefinition, facts: SemaphoreFacts): Warning[] {
  const ofDuration = [
    ...tooShort(definition, facts.clockTolerance),
    ...facts.runs.flatMap((run) => tooLongRun(run, facts.jobs)),
  ];
  // Also while paused: no job would run after the resume.
  const unusable = patternFaults(definition).map((sentence) => ({ code: 'unusable-pattern' as const, sentence }));
  if (unusable.length > 0 || state.pause) return [...unusable, ...ofDuration];
  const without = noNode(definition, facts);
  return [...without, ...(without.length > 0 ? [] : notRun(state, facts)), ...ofDuration];
}

/** A node with a smaller tolerance may have defined it. */
function tooShort({ duration }: SemaphoreDefinition, clockTolerance: number): Warning[] {
  const shortest = shortestDuration(clockTolerance);
  if (duration >= shortest) return [];
  const sentence =
    `its duration of ${duration} ms is too short for the clockTolerance of ${clockTolerance} ms of this node, ` +
    `which grants permits of ${shortest} ms in its place: lengthen the one or lower the other`;
  return [{ code: 'duration-too-short', sentence }];
}

/** Without registry entries nothing is known, because nodes may have no heartbeat. */
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
  if (!(took > interval)) return [];
  const sentence =
    `the last run of ${job} took ${formatDuration(took)} (since ${formatTime(at)}, on ${node.acquirer}): ` +
    `longer than the ${formatDuration(interval)} until it is due again`;
  return [{ code: 'runs-too-long', sentence }];
}

/** Jobs that missed {@link MISSES} times in a row although a node that may run them has lived that long. */
function notRun(state: SemaphoreState, facts: SemaphoreFacts): Warning[] {
  const byName = groupedBy(facts.jobs, ({ card }) => card.job);
  return [...byName].flatMap(([name, jobs]) => {
    const since = Math.max(
      ...jobs.filter(({ node }) => facts.passing.has(node)).flatMap((job) => missesSince(job, facts)),
    );
    if (since === -Infinity) return [];
    const run = facts.runs.find(({ job }) => job === name);
    // Runs of another job say nothing about this one.
    const sign = run && byName.size > 1 ? run.at : Math.max(run?.at ?? 0, signOfLife(state, facts.now));
    if (Math.max(sign, state.change?.at ?? 0) >= since - SLACK) return [];
    const last = sign > 0 ? `it ran last ${formatTime(sign)}` : 'no run of it is known';
    const sentence = `${name} was due ${MISSES} times since ${formatTime(since)} and did not run: ${last}`;
    return [{ code: 'not-run' as const, sentence }];
  });
}

/** @returns cluster time of the {@link MISSES}th time, counted back from now, if the node lived then */
function missesSince({ card, node }: ScheduledJob, { now }: SemaphoreFacts): number[] {
  const { recent, next, interval, kind } = card.schedule ?? {};
  if (kind === 'timeout') return [];
  const first = recent ? recent.at(-MISSES) : next && interval && next - MISSES * interval;
  if (first === undefined) return [];
  const since = clusterTimeOf(first, node);
  return node.startedAt <= since && since <= now ? [since] : [];
}

/** A live permit means that a run may be going on. A grant means that a run began then. */
function signOfLife({ holders, lastGrantAt = 0 }: SemaphoreState, now: number): number {
  if (holders.some(({ remaining }) => remaining > 0)) return now;
  return Math.max(lastGrantAt, ...holders.map(({ expiresAt, duration }) => expiresAt - duration));
}
