import type { JobRuns } from '../activity/index.js';
import { readTicks } from '../../core/cron/ticks.js';
import { type ScheduledJob, clusterTimeOf } from './scheduled-job.js';

/**
 * ms that a due run may take to become known: a node publishes its times only with its heartbeat, and clocks differ.
 */
export const GRACE = 15_000;
/** ms by which a run may begin before its planned time, because clocks differ. */
const SLACK = 1000;
/** Number of ticks of an interval that count as its last ones. */
const RECENT = 3;

/** When a job was due, and when it ran, as far as that is known. */
export interface DueJob {
  /** The job on the nodes that may run it. */
  readonly jobs: readonly ScheduledJob[];
  /** Its stored past; absent if it has none. */
  readonly past?: JobRuns | undefined;
  /** Cluster time in ms at which it last ran, or showed another sign of life; 0 if none is known. */
  readonly ranAt: number;
  /** Cluster time in ms. */
  readonly now: number;
}

/** Times at which a job was due and did not run since. */
export interface MissedTimes {
  /** The first of them, cluster time in ms. */
  readonly first: number;
  /** Number of them; absent if they are more than the nodes know: the last three. */
  readonly count?: number;
}

/**
 * Finds the times at which a job was due and did not run since. They are judged by its schedule and its stored past, so a
 * restart hides no missed run. Without a stored past, only a node that lived then knows that the job was due. Pure.
 *
 * @returns undefined if there is none
 */
export function missedTimes(due: DueJob): MissedTimes | undefined {
  const known = knownTimes(due);
  if (known.length === 0) return undefined;
  // Of one node: to read an expression costs too much for each of a hundred.
  const oldest = due.jobs.reduce((one, other) => (other.node.startedAt < one.node.startedAt ? other : one));
  const first = firstTime(oldest, due);
  return first < known[0]! - SLACK ? { first } : { first: known[0]!, count: known.length };
}

/** The missed ones of the last times that nodes know, oldest first. */
function knownTimes(due: DueJob): number[] {
  const missed = due.jobs.map((job) => timesOf(job, due).filter((time) => due.ranAt < time - SLACK));
  // Their clocks may differ, so the times of one node count.
  return missed.reduce((most, times) => ((times.at(-1) ?? 0) > (most.at(-1) ?? 0) ? times : most), []);
}

/** The first time after the last run, by the cron expression; Infinity if it can't be read. Nodes know only the last times. */
function firstTime({ card: { schedule }, node }: ScheduledJob, { past, ranAt }: DueJob): number {
  const { kind, expression, timeZone } = schedule ?? {};
  if (kind !== 'cron' || timeZone === undefined) return Infinity;
  const isCertain = ranAt > 0 && past?.schedule === expression;
  const from = isCertain ? ranAt : Math.max(ranAt, node.startedAt);
  const read = readTicks(expression, timeZone);
  return 'ticks' in read ? clusterTimeOf(read.ticks.next(from + SLACK - (node.clock.offset ?? 0)), node) : Infinity;
}

function timesOf(job: ScheduledJob, { past, now }: DueJob): number[] {
  const { schedule } = job.card;
  if (!schedule || schedule.kind === 'timeout') return [];
  // Under another schedule it was due at other times.
  const known = past && past.schedule === schedule.expression ? past : undefined;
  const isCertain = schedule.kind === 'cron' && known !== undefined;
  const ticks = ticksOf(job).filter((time) => isCertain || job.node.startedAt <= time);
  const old = ticks.filter((time) => time <= now - GRACE);
  if (old.length > 0) return old;
  // Of a job that is due every few seconds, no tick is old enough. Three in a row are.
  const [first] = ticks;
  if (first !== undefined && ticks.length >= RECENT && first <= now) return [first];
  return schedule.kind === 'interval' && known ? afterRestart(known, schedule.interval, now) : [];
}

/** Cluster times of the last known ticks, oldest first. */
function ticksOf({ card, node }: ScheduledJob): number[] {
  const { recent, next, interval } = card.schedule!;
  if (recent) return recent.map((time) => clusterTimeOf(time, node));
  if (!next || !interval) return [];
  return Array.from({ length: RECENT }, (_, index) => clusterTimeOf(next - (RECENT - index) * interval, node));
}

/** A node counts an interval anew when it starts. So after a restart up to two intervals may pass between two runs. */
function afterRestart({ runs }: JobRuns, interval: number | undefined, now: number): number[] {
  const [last] = runs;
  const time = last && interval ? last.at + 2 * interval : Infinity;
  return time <= now - GRACE ? [time] : [];
}
