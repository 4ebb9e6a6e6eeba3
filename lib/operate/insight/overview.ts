import { intendedDefinition } from '../../core/decision/index.js';
import type { MaybeStale } from '../../core/context/stale.js';
import { type NodeInfo, newerFirst, newestOf } from '../activity/index.js';
import type { SemaphoreState, JobOnNodes, SemaphoreOverview } from './semaphore-answers.js';
import { withUnheard } from './heard-holders.js';
import { groupedBy } from './grouped.js';
import { type ScheduledJob, nextRun } from './scheduled-job.js';
import { removedWarnings, warningsOf, type SemaphoreFacts } from './warnings.js';

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
