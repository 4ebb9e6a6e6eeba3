import { type TaskName, grouped, single } from '../../../lib/tasks/index.js';
import type { Chance } from '../world/chance.js';

/** Data of a task with sub-tasks: how many it submits. */
export interface Tree {
  /** Levels of sub-tasks below it. */
  readonly depth: number;
  /** Sub-tasks of their own; the first one has sub-tasks itself if the tree is deep enough. */
  readonly singles: number;
  /** Members of a group of sub-tasks; 0 for no group. */
  readonly members: number;
  /** Whether the members say their number from the first one on. */
  readonly hasTotal: boolean;
}

/** A sub-task, and its data. */
export interface PlannedTask {
  readonly name: TaskName;
  readonly data: unknown;
}

/** The tasks with sub-tasks of one schedule. */
export interface TreePlan {
  readonly tasks: readonly PlannedTask[];
  /** Number of groups whose members have sub-tasks. */
  readonly groups: number;
}

/** Half of the schedules have tasks with sub-tasks. Some are submitted again after their end. */
export function planTrees(chance: Chance): TreePlan {
  if (chance.happens(0.5)) return { tasks: [], groups: 0 };
  const tasks: PlannedTask[] = [];
  for (let count = chance.whole(0, 3); count > 0; count--) {
    tasks.push({ name: single('tree', `t${chance.whole(1, 2)}`), data: drawTree(chance) });
  }
  const groups = chance.whole(0, 1);
  const total = groups * chance.whole(1, 2);
  for (let number = 1; number <= total; number++) {
    tasks.push({ name: grouped('tree', 'forest', number, total), data: drawTree(chance) });
  }
  return { tasks, groups };
}

/** The sub-tasks of a task, the same in each attempt. */
export function subTasksOf({ depth, singles, members, hasTotal }: Tree): PlannedTask[] {
  const tasks: PlannedTask[] = [];
  for (let index = 1; index <= singles; index++) {
    const isTree = index === 1 && depth > 1;
    const data = isTree ? { depth: depth - 1, singles, members, hasTotal } : undefined;
    tasks.push({ name: single(isTree ? 'tree' : 'leaf', `s${index}`), data });
  }
  for (let number = 1; number <= members; number++) {
    tasks.push({ name: grouped('leaf', 'leaves', number, hasTotal ? members : undefined), data: undefined });
  }
  return tasks;
}

function drawTree(chance: Chance): Tree {
  return {
    depth: chance.whole(1, 3),
    singles: chance.whole(0, 2),
    members: chance.whole(0, 3),
    hasTotal: chance.happens(0.5),
  };
}
