import type { Gatekeeper } from 'nestjs-gatekeeper';
import { forEachLimit } from '../../../../lib/core/async/for-each-limit.js';
import { groupedBy } from '../../../../lib/operate/insight/grouped.js';
import type { Write } from '../../cluster/guarded-resource.js';
import type { NodeSaid } from '../../cluster/node-process.js';

interface TaskRun {
  readonly gatekeeper: Gatekeeper;
  readonly tasks: number;
  /** Members of each group. */
  readonly group: number;
  /** Number of sub-tasks, by number in the group. */
  readonly partsOf: (number: number) => number;
  readonly said: readonly NodeSaid[];
  readonly writes: readonly Write[];
  readonly troubles: ReadonlyMap<string, number>;
  readonly seconds: number;
}

export interface TaskVerdict {
  readonly figures: Readonly<Record<string, number>>;
  readonly violations: readonly string[];
}

/** Each task was done at least once, each group was joined with all results, and its guarded effect is there once. */
export async function judgeTasks(run: TaskRun): Promise<TaskVerdict> {
  const { tasks, group: size, said, writes, troubles, seconds } = run;
  const violations: string[] = [];
  const groups = Array.from({ length: tasks / size }, (_, index) => `g${index + 1}`);
  const worked = groupedBy(
    said.filter(({ event }) => event === 'worked'),
    (each) => each['task'] as string,
  );
  const ids = groups.flatMap((group) => Array.from({ length: size }, (_, index) => `work[${group}]#${index + 1}`));
  await forEachLimit(ids, async (id) => {
    const task = await run.gatekeeper.tasks.find(id);
    const attempts = worked.get(id) ?? [];
    if (task?.state !== 'completed') violations.push(`${id} is not completed: ${JSON.stringify(task)}`);
    else if (!attempts.some(({ token }) => token === task.token)) violations.push(`${id} was completed by no attempt`);
  });
  const partsWorked = groupedBy(
    said.filter(({ event }) => event === 'part-worked'),
    (each) => each['parent'] as string,
  );
  const joins = groupedBy(
    said.filter(({ event }) => event === 'joined'),
    (each) => each['group'] as string,
  );
  const sum = size * (size + 1);
  for (const group of groups) {
    const runs = joins.get(group) ?? [];
    if (runs.length === 0) violations.push(`group ${group} was not joined`);
    const joinedAt = Math.min(...runs.map(({ at }) => at));
    for (let number = 1; number <= size; number++) {
      const parts = partsWorked.get(`work[${group}]#${number}`) ?? [];
      const before = new Set(parts.filter(({ at }) => at < joinedAt).map((each) => each['part']));
      if (before.size !== run.partsOf(number))
        violations.push(`group ${group} was joined before a sub-task of #${number}`);
    }
    for (const each of runs) {
      if (each['total'] === size && each['completed'] === size && each['sum'] === sum) continue;
      violations.push(`group ${group} was joined without all results: ${JSON.stringify(each)}`);
    }
    const tokens = runs.map(({ token }) => token!);
    if (new Set(tokens).size < tokens.length) violations.push(`group ${group} was joined twice with one token`);
  }
  const accepted = groupedBy(
    writes.filter(({ isRefused }) => !isRefused),
    ({ place }) => place,
  );
  if (accepted.size !== groups.length) violations.push(`${accepted.size} guarded effects of ${groups.length} groups`);
  violations.push(...said.filter(({ event }) => event === 'fault').map((each) => JSON.stringify(each)));
  const attempts = [...worked.values()].flat().length;
  return {
    violations,
    figures: {
      seconds: Math.round(seconds),
      tasks,
      attempts,
      'worked on more than once': [...worked.values()].filter(({ length }) => length > 1).length,
      'results refused': said.filter(({ event }) => event === 'task-lost').length,
      'sub-tasks': groups.length * sumOf(size, run.partsOf),
      'runs of sub-tasks': [...partsWorked.values()].flat().length,
      groups: groups.length,
      'runs of group handlers': [...joins.values()].flat().length,
      'guarded effects': accepted.size,
      'stale effects refused': writes.length - [...accepted.values()].flat().length,
      ...Object.fromEntries(troubles),
    },
  };
}

function sumOf(size: number, partsOf: (number: number) => number): number {
  return Array.from({ length: size }, (_, index) => partsOf(index + 1)).reduce((sum, parts) => sum + parts, 0);
}
