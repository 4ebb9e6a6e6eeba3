import type { NodeInfo, JobInfo } from '../activity/index.js';
import type { HolderState } from '../../core/context/answers.js';
import { readTicks } from '../../core/cron/ticks.js';

/** A job of a living node. */
export interface ScheduledJob {
  readonly card: JobInfo;
  readonly node: NodeInfo;
}

/** All jobs of some nodes. */
export function* jobsOn(nodes: readonly NodeInfo[]): Generator<ScheduledJob> {
  for (const node of nodes) for (const card of node.jobs) yield { card, node };
}

/** ms */
const SECOND = 1000;

/**
 * Converts a planned time by a node's own clock to cluster time. One of whole seconds stays one: a clock that is a
 * millisecond behind would show "10:00" as "09:59:59".
 */
export function clusterTimeOf(time: number, { clock }: NodeInfo): number {
  const exact = time + (clock.offset ?? 0);
  return time % SECOND === 0 ? Math.round(exact / SECOND) * SECOND : exact;
}

/** When the permits of a semaphore let its jobs run. */
export interface Grantable {
  /** Nodes that the definition matches. */
  readonly passing: ReadonlySet<NodeInfo>;
  /** Number of permits that can be granted now. */
  readonly free: number;
  /** The permits in the record. */
  readonly holders: readonly HolderState[];
  /** ms for which a node waits after the end of a permit before it takes over its slot. */
  readonly clockTolerance: number;
}

/**
 * Finds the next scheduled run. While no permit is free, only its holder runs at its next time. The others run at their
 * first time after the end of a permit. Pure.
 *
 * @param now cluster time in ms
 * @returns cluster time, ms since the epoch; undefined if none is known
 */
export function nextRun(jobs: readonly ScheduledJob[], grantable: Grantable, now: number): number | undefined {
  const { passing, free, holders, clockTolerance } = grantable;
  const held = holders.filter(({ remaining }) => remaining > 0);
  const holding = new Set(held.flatMap(({ instance, holder }) => (holder === instance ? [instance] : [])));
  const grantableAt =
    free > 0 || held.length === 0 ? now : Math.min(...held.map(({ expiresAt }) => expiresAt)) + clockTolerance;
  const possible = jobs.filter(({ node }) => passing.has(node));
  const [own, others] = [true, false].map((isHolder) =>
    possible.filter(({ node }) => holding.has(node.instance) === isHolder),
  ) as [ScheduledJob[], ScheduledJob[]];
  const soonest = Math.min(...own.flatMap((job) => firstFrom(job, now, now)));
  // Usually the holder is the next one. Then the times of all others need not be computed.
  if (soonest <= grantableAt) return soonest;
  const next = Math.min(soonest, ...others.flatMap((job) => firstFrom(job, grantableAt, now)));
  return next === Infinity ? undefined : next;
}

/** The first time of a job from an instant on. A registry entry may be as old as a heartbeat, so its next run may be past. */
function firstFrom({ card, node }: ScheduledJob, from: number, now: number): number[] {
  const { next, interval, kind, expression, timeZone } = card.schedule ?? {};
  if (next === undefined) return [];
  const told = clusterTimeOf(next, node);
  if (told >= from) return [told];
  if (!interval) return [];
  // The interval of a cron expression holds only for its next run: the one after may be days away.
  if (kind === 'cron' && from > now && timeZone !== undefined) {
    const read = readTicks(expression, timeZone);
    if ('ticks' in read) return [clusterTimeOf(read.ticks.next(from - 1 - (node.clock.offset ?? 0)), node)];
  }
  return [told + Math.ceil((from - told) / interval) * interval];
}
