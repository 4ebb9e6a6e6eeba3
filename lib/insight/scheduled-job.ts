import type { RunEntry } from '../activity/index.js';
import type { NodeInfo, JobInfo } from '../activity/index.js';

/** A job of a living node. */
export interface ScheduledJob {
  readonly card: JobInfo;
  readonly node: NodeInfo;
}

/** A time that a node told by its own clock, as cluster time. */
export function clusterTimeOf(time: number, { clock }: NodeInfo): number {
  return time + (clock.offset ?? 0);
}

/** @returns cluster time in ms at which the first of `passing` runs one of the jobs by itself */
export function nextRun(
  jobs: readonly ScheduledJob[],
  passing: ReadonlySet<NodeInfo>,
  now: number,
): number | undefined {
  const times = jobs.flatMap((job) => (passing.has(job.node) ? nextOf(job, now) : []));
  return times.length > 0 ? Math.min(...times) : undefined;
}

/** Cards are as old as a heartbeat: what was to come then may be over. */
function nextOf({ card, node }: ScheduledJob, now: number): number[] {
  const { next, interval } = card.schedule ?? {};
  if (next === undefined) return [];
  const told = clusterTimeOf(next, node);
  if (told >= now) return [told];
  return interval ? [told + Math.ceil((now - told) / interval) * interval] : [];
}

/** How it ran last on its node, as the journal would have it. */
export function lastRunOf({ card: { job, semaphore, lastRun }, node }: ScheduledJob): RunEntry[] {
  if (!lastRun || semaphore === undefined) return [];
  const { group, acquirer, instance } = node;
  return [{ kind: 'run', semaphore, job, node: { group, acquirer, instance }, ...lastRun }];
}
