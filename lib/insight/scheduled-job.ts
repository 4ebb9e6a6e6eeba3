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

/** @returns cluster time in ms of the next scheduled run on one of the `passing` nodes */
export function nextRun(
  jobs: readonly ScheduledJob[],
  passing: ReadonlySet<NodeInfo>,
  now: number,
): number | undefined {
  const times = jobs.flatMap((job) => (passing.has(job.node) ? nextOf(job, now) : []));
  return times.length > 0 ? Math.min(...times) : undefined;
}

/** Registry entries are up to a heartbeat old, so the next time may have passed already. */
function nextOf({ card, node }: ScheduledJob, now: number): number[] {
  const { next, interval } = card.schedule ?? {};
  if (next === undefined) return [];
  const told = clusterTimeOf(next, node);
  if (told >= now) return [told];
  return interval ? [told + Math.ceil((now - told) / interval) * interval] : [];
}

/** The last run on its node, in the form of a journal entry. */
export function lastRunOf({ card: { job, semaphore, lastRun }, node }: ScheduledJob): RunEntry[] {
  if (!lastRun || semaphore === undefined) return [];
  const { group, acquirer, instance } = node;
  return [{ kind: 'run', semaphore, job, node: { group, acquirer, instance }, ...lastRun }];
}
