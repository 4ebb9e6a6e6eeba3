import { describe, expect, it } from '@jest/globals';
import { NewerRecordError, StoreUnavailableError, UnknownOutcomeError } from 'nestjs-gatekeeper';
import { grouped } from '../../lib/tasks/index.js';
import { LEASE, type TaskCluster, type TaskNode, useTaskCluster } from './task-nodes.js';

const newCluster = useTaskCluster();

/** A node that handles `import` and the end of its groups; `joined` has the totals for which the group's handler was called. */
function importer(cluster: TaskCluster, work: () => unknown = () => 1): { node: TaskNode; joined: number[] } {
  const node = cluster.node();
  const joined: number[] = [];
  node.tasks.handlers.handle('import', work, { lease: LEASE });
  node.tasks.handlers.onGroupFinished('import', ({ total }) => void joined.push(total), { lease: LEASE });
  node.tasks.handlers.start();
  return { node, joined };
}

describe("the handler of a group whose records can't be read", () => {
  /** The next reads of groups fail after the group's handler was claimed. */
  function failReads({ context }: TaskNode, reads: number, error: Error): void {
    const { tasks, groups } = context.store.tasks!;
    const replace = tasks.replace.bind(tasks);
    let left = 0;
    tasks.replace = (...write) => {
      if (write[0].endsWith('#join')) {
        tasks.replace = replace;
        left = reads;
      }
      return replace(...write);
    };
    for (const method of ['read', 'readMany'] as const) {
      const read = (groups[method] as (...args: unknown[]) => Promise<unknown>).bind(groups);
      Object.assign(groups, { [method]: (...args: unknown[]) => (left-- > 0 ? Promise.reject(error) : read(...args)) });
    }
  }

  it.each([
    ['can not be reached', 1, new StoreUnavailableError('away')],
    ['gives no clear answer for long', 40, new UnknownOutcomeError('no answer')],
    ['has a record of a newer version', 1, new NewerRecordError('root:import[june]')],
  ])('is called later if the store %s: that counts as no failure', async (_, reads, error) => {
    const cluster = newCluster();
    const { node, joined } = importer(cluster);
    failReads(node, reads, error);
    await node.tasks.submit(grouped('import', 'june', 1, 1), undefined, { maxAttempts: 1 });
    await cluster.time.advance(10 * LEASE);
    expect(joined).toEqual([1]);
    expect(await node.tasks.find('import[june]#join')).toMatchObject({ state: 'completed', attempts: 0, crashes: 0 });
  });
});
