import type { ScheduleContext, ScheduleOptions } from '../../lib/tasks/index.js';
import { type WriteKind, kindOf, interceptWrites } from '../support/writes.js';
import { type TaskCluster, type TaskNode, LEASE } from './task-nodes.js';

/** ms: longer than a tick, the patience of the other nodes and the claim take. */
export const SOON = 2000;
/** The first planned time of {@link MINUTELY} after the start of a test, and the time to it from then. */
export const FIRST = Date.parse('2023-11-14T22:14:00Z');
export const MINUTELY = '* * * * *';
export const MINUTE = 60_000;

/** Runs of a schedule on all nodes of a test. */
export interface Run {
  readonly node: string;
  readonly planned: number;
  /** Cluster time. */
  readonly at: number;
  readonly context: ScheduleContext;
}

/** Nodes with the schedule "job", and what they ran. */
export class ScheduledJob {
  readonly runs: Run[] = [];
  /** The work of a run. */
  work: (tick: ScheduleContext) => unknown = () => undefined;

  constructor(
    private readonly cluster: TaskCluster,
    private readonly expression = MINUTELY,
  ) {}

  /** Starts a node that has the schedule. */
  node(options: ScheduleOptions = {}, expression = this.expression): TaskNode {
    const node = this.cluster.node();
    const { acquirer } = node.context.node;
    const run = (context: ScheduleContext) => {
      this.runs.push({
        node: acquirer,
        planned: context.plannedAt.getTime(),
        at: this.cluster.time.cluster(),
        context,
      });
      return this.work(context);
    };
    node.tasks.schedules.add('job', expression, run, { lease: LEASE, ...options });
    node.tasks.start();
    return node;
  }

  /** Planned times of the runs, as minutes after the first one. */
  get minutes(): number[] {
    return this.runs.map(({ planned }) => (planned - FIRST) / MINUTE);
  }
}

/** Calls of the storage of tasks about schedules by a node, by method, from now on. Attempts of workers are left out. */
export function countCalls({ driver }: TaskNode): Record<string, number> {
  const counts: Record<string, number> = {};
  const { tasks } = driver;
  const count = (call: 'read' | WriteKind, key: string) => {
    const name = key.startsWith('@') ? `${call} record` : `${call} task`;
    if (key.startsWith('@') || call === 'create') counts[name] = (counts[name] ?? 0) + 1;
  };
  const read = tasks.read.bind(tasks);
  tasks.read = (key) => (count('read', key), read(key));
  interceptWrites(tasks, ['create', 'replace'], (go, write) => (count(kindOf(write), write.key), go()));
  return counts;
}
