import { intendedDefinition } from '../decision/index.js';
import type { StalePart } from './health-report.js';
import type { RunEntry } from '../activity/index.js';
import type { NodeInfo, JobInfo } from '../activity/index.js';
import type { SemaphoreState } from './state.js';
import { groupedBy } from './grouped.js';
import { type ScheduledJob, nextRun } from './scheduled-job.js';
import { type Warning, warningsOf } from './warnings.js';
import type { SemaphoreFacts } from './warnings.js';

/** Overview: all semaphores with their jobs, and all nodes. */
export interface Overview {
  /** Cluster time in ms. */
  readonly now: number;
  /** By name. */
  readonly semaphores: readonly SemaphoreOverview[];
  /** The living nodes. */
  readonly nodes: readonly NodeInfo[];
  /** Parts that could not be read just now: `records`, `nodes` and `runs` are then as last read, or empty. */
  readonly stale: readonly StalePart[];
}

/** A semaphore with its jobs, runs and warnings. */
export interface SemaphoreOverview extends SemaphoreState {
  /** The jobs that it guards, by name. */
  readonly jobs: readonly JobOnNodes[];
  /** Cluster time in ms of the next scheduled run of one of its jobs, on a node that the definition matches. */
  readonly next?: number;
  /** The newest run that ended, of any of its jobs. */
  readonly lastRun?: RunEntry;
  /** Conditions that an operator should look into. */
  readonly warnings: readonly Warning[];
}

/** A job, as defined on the node that started last. */
export interface JobOnNodes extends Omit<JobInfo, 'lastRun'> {
  /** How many living nodes have it. */
  readonly nodes: number;
}

/** Combines everything that is shown for one semaphore. Pure. */
export function semaphoreOverview(state: SemaphoreState, facts: SemaphoreFacts): SemaphoreOverview {
  const intended = state.definition && intendedDefinition(state);
  const next = state.pause ? undefined : nextRun(facts.jobs, facts.passing, facts.now);
  const lastRun = facts.runs.toSorted((one, other) => other.at - one.at)[0];
  return {
    ...state,
    jobs: merged(facts.jobs),
    ...(next !== undefined && { next }),
    ...(lastRun && { lastRun }),
    warnings: intended ? warningsOf(state, intended, facts) : [],
  };
}

function merged(jobs: readonly ScheduledJob[]): JobOnNodes[] {
  const byName = groupedBy(jobs, ({ card }) => card.job);
  return [...byName.keys()].toSorted().map((name) => {
    const same = byName.get(name)!;
    const newest = same.reduce((one, other) => (other.node.startedAt > one.node.startedAt ? other : one));
    const { lastRun: _onThatNode, ...card } = newest.card;
    return { ...card, nodes: same.length };
  });
}
