import type { RunEntry } from '../journals/index.js';
import type { NodeCard, TaskCard } from '../nodes/index.js';

/** A task of a living node. */
export interface ScheduledTask {
  readonly card: TaskCard;
  readonly node: NodeCard;
}

/** A time that a node told by its own clock, as cluster time. */
export function clusterTimeOf(time: number, { clock }: NodeCard): number {
  return time + (clock.offset ?? 0);
}

/** @returns cluster time in ms at which the first of `passing` runs one of the tasks by itself */
export function nextRun(
  tasks: readonly ScheduledTask[],
  passing: ReadonlySet<NodeCard>,
  now: number,
): number | undefined {
  const times = tasks.flatMap((task) => (passing.has(task.node) ? nextOf(task, now) : []));
  return times.length > 0 ? Math.min(...times) : undefined;
}

/** Cards are as old as a heartbeat: what was to come then may be over. */
function nextOf({ card, node }: ScheduledTask, now: number): number[] {
  const { next, interval } = card.schedule ?? {};
  if (next === undefined) return [];
  const told = clusterTimeOf(next, node);
  if (told >= now) return [told];
  return interval ? [told + Math.ceil((now - told) / interval) * interval] : [];
}

/** How it ran last on its node, as the journal would have it. */
export function lastRunOf({ card: { task, semaphore, lastRun }, node }: ScheduledTask): RunEntry[] {
  if (!lastRun || semaphore === undefined) return [];
  const { group, acquirer, instance } = node;
  return [{ kind: 'run', semaphore, task, node: { group, acquirer, instance }, ...lastRun }];
}
