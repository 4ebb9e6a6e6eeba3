import type { RunEntry } from '../activity/index.js';
import type { NodeInfo, JobInfo } from '../activity/index.js';

/** A job of a living node. */
export interface ScheduledJob {
  readonly card: JobInfo;
  readonly node: NodeInfo;
}

/** Converts a time by a node's own clock to cluster time. */
export function clusterTimeOf(time: number, { clock }: NodeInfo): number {
  return time + (clock.offset ?? 0);
}

/**
 * Finds the next scheduled run on the `passing` nodes.
 *
 * @returns cluster time, ms since the epoch; undefined if none is known
 */
export function nextRun(
  jobs: readonly ScheduledJob[],
  passing: ReadonlySet<NodeInfo>,
  now: number,
): number | undefined {
  const times = jobs.flatMap((job) => (passing.has(job.node) ? nextOf(job, now) : []));
  return times.length > 0 ? Math.min(...times) : undefined;
}

/** A registry entry may be as old as a heartbeat, so its next run may be in the past. */
function nextOf({ card, node }: ScheduledJob, now: number): number[] {
  const { next, interval } = card.schedule ?? {};
  if (next === undefined) return [];
  const told = clusterTimeOf(next, node);
  if (told >= now) return [told];
  return interval ? [told + Math.ceil((now - told) / interval) * interval] : [];
}

/** Returns the job's last run on its node in the form of a journal entry, or an empty list. */
export function lastRunOf({ card: { job, semaphore, lastRun }, node }: ScheduledJob): RunEntry[] {
  if (!lastRun || semaphore === undefined) return [];
  const { group, acquirer, instance } = node;
  return [{ kind: 'run', semaphore, job, node: { group, acquirer, instance }, ...lastRun }];
}
