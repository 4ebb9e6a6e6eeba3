import { type TaskContext, grouped } from '../../lib/tasks/index.js';
import { LEASE, SHORT_GROUP, type TaskCluster, type TaskNode } from './task-nodes.js';

/** A member that fails the group at its first error. */
export const FLAG = { failGroupFast: true, maxAttempts: 1, retention: '5m', deadLetterRetention: '5m' } as const;
/** The same without the flag. */
export const WAITS = { ...FLAG, failGroupFast: false };

/** A node that handles `import`, one at a time, and notes what ran. */
export function importer(cluster: TaskCluster, log: string[], work: (task: TaskContext) => unknown = fail): TaskNode {
  const node = cluster.node();
  node.tasks.handlers.handle(
    'import',
    (task) => {
      log.push(task.id);
      return work(task);
    },
    { lease: LEASE, concurrency: 1 },
  );
  node.tasks.handlers.onGroupFinished(
    'import',
    async ({ group, completed, failed, members }) => {
      const outcomes: string[] = [];
      for await (const { outcome } of members()) outcomes.push(outcome);
      log.push(`${group}: ${completed} of ${completed + failed}, ${[...new Set(outcomes)].toSorted().join()}`);
    },
    SHORT_GROUP,
  );
  node.tasks.handlers.start();
  return node;
}

function fail({ data }: TaskContext): string {
  if (data === 'bad') throw new Error('bad data');
  return 'done';
}

/** Works until its signal aborts. */
export function obey({ signal }: TaskContext): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(signal.reason as Error);
    if (signal.aborted) end();
    signal.addEventListener('abort', end);
  });
}

/** A member of the group `june`. */
export const member = (number: number, total?: number) => grouped('import', 'june', number, total);
