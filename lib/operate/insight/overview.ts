import { intendedDefinition } from '../../core/decision/index.js';
import type { MaybeStale } from '../../core/context/stale.js';
import { type JobInfo, type NodeInfo, type RunEntry, newerFirst, newestOf } from '../activity/index.js';
import type { SemaphoreState } from './state.js';
import { type HolderOverview, withUnheard } from './heard-holders.js';
import { groupedBy } from './grouped.js';
import { type ScheduledJob, nextRun } from './scheduled-job.js';
import type { Warning } from './warning.js';
import { removedWarnings, warningsOf } from './warnings.js';
import type { SemaphoreFacts } from './warnings.js';

/**
 * All semaphores with their jobs, and all living nodes. `stale` names the parts that could not be read now: `records`, `nodes`
 * or `runs`. Their data are as last read, or empty.
 */
export interface Overview extends MaybeStale {
  /** Time of the reading: cluster time, ms since the epoch. */
  readonly now: number;
  /** Sorted by name. */
  readonly semaphores: readonly SemaphoreOverview[];
  /** The living nodes, sorted by group and acquirer. */
  readonly nodes: readonly NodeInfo[];
}

/** A semaphore with its jobs, runs and warnings. */
export interface SemaphoreOverview extends SemaphoreState {
  /** The permits in the record, including those that have ended but are not dropped yet. */
  readonly holders: readonly HolderOverview[];
  /** The jobs that it guards, sorted by name. */
  readonly jobs: readonly JobOnNodes[];
  /**
   * The next scheduled run of any of its jobs on a node that the definition matches: cluster time, ms since the epoch.
   * While no permit is free, the next one of the holder, or the first one after the end of a permit. Absent if none is
   * known, or while nothing may run: during a pause, or with 0 permits.
   */
  readonly next?: number;
  /** The newest run of any of its jobs that has ended or crashed; absent if none is known. */
  readonly lastRun?: RunEntry;
  /** Conditions that an operator should look into. */
  readonly warnings: readonly Warning[];
}

/** A job, as defined on the node that started last. */
export interface JobOnNodes extends JobInfo {
  /** Number of living nodes that have this job. */
  readonly nodes: number;
}

/** Combines all data about one semaphore. Pure. */
export function semaphoreOverview(state: SemaphoreState, facts: SemaphoreFacts): SemaphoreOverview {
  const intended = state.definition && intendedDefinition(state);
  const isOff = state.pause !== undefined || state.definition?.permits === 0;
  const next = isOff ? undefined : nextRun(facts.jobs, { ...state, ...facts }, facts.now);
  const [lastRun] = newestOf(facts.past).toSorted(newerFirst);
  return {
    ...state,
    holders: withUnheard(state.holders, facts.heard, facts.now),
    jobs: merged(facts.jobs),
    ...(next !== undefined && { next }),
    ...(lastRun && { lastRun }),
    warnings: intended ? warningsOf(state, intended, facts) : removedWarnings(state, facts),
  };
}

function merged(jobs: readonly ScheduledJob[]): JobOnNodes[] {
  const byName = groupedBy(jobs, ({ card }) => card.job);
  return [...byName.keys()].toSorted().map((name) => {
    const same = byName.get(name)!;
    const newest = same.reduce((one, other) => (other.node.startedAt > one.node.startedAt ? other : one));
    return { ...newest.card, nodes: same.length };
  });
}
