import type { TaskContext } from '../../lib/tasks/index.js';
import { LEASE, SHORT_GROUP, type TaskCluster, type TaskNode } from './task-nodes.js';

/** A node that writes down the ids of its tasks. Those of the type `import` wait for `work`. */
export function factory(
  cluster: TaskCluster,
  log: string[],
  work: (task: TaskContext) => unknown = () => undefined,
): TaskNode {
  const node = cluster.node();
  const noted = async (task: TaskContext) => (await work(task), void log.push(task.id));
  node.tasks.handlers.handle('import', noted, { lease: LEASE });
  for (const type of ['report', 'mail'])
    node.tasks.handlers.handle(type, ({ id }) => void log.push(id), { lease: LEASE });
  for (const type of ['import', 'report'])
    node.tasks.handlers.onGroupFinished(type, ({ group }) => void log.push(`end of ${type} ${group}`), {
      lease: LEASE,
      ...SHORT_GROUP,
    });
  node.tasks.handlers.start();
  return node;
}
