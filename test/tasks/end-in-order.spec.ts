import { type TaskContext, grouped, single } from '../../lib/tasks/index.js';
import { openEnd } from '../support/nodes.js';
import { interceptWrites } from '../support/writes.js';
import { LEASE, SWEPT, type TaskCluster, type TaskNode, loseAfter, useTaskCluster } from './task-nodes.js';

const newCluster = useTaskCluster();

/** `book:1` is in a serial queue, before `book:2`. It has a group of two pages as sub-tasks. */
function printer(cluster: TaskCluster, log: string[], lastPage: () => unknown): TaskNode {
  const node = cluster.node();
  const { handlers } = node.tasks;
  const book = async ({ id, submit }: TaskContext) => {
    log.push(id);
    if (id === 'book:1') for (const number of [1, 2]) await submit(grouped('page', 'all', number, 2));
  };
  handlers.handle('book', book, { lease: LEASE });
  handlers.handle('page', ({ id }) => (id.endsWith('#2') ? lastPage() : undefined), { lease: LEASE });
  handlers.onGroupFinished('page', ({ total }) => void log.push(`all ${total} pages`), { lease: LEASE });
  handlers.start();
  return node;
}

async function untilLastPage(cluster: TaskCluster, log: string[]) {
  const { work, end } = openEnd();
  const node = printer(cluster, log, work);
  for (const name of [1, 2]) await cluster.node().tasks.submitSerial('q', single('book', `${name}`));
  await cluster.time.advance(1000);
  return { node, end };
}

/** The writes of the end, as `key, first letter of the text`, which is that of the task's state. See effectsOf() for their order. */
const IN_ORDER = [
  // The last page ends. Its group counts it, and knows that all have ended: the join is submitted.
  'page 2, done',
  'bits of the pages',
  'root of the pages',
  'join, waiting',
  'page 2, finished',
  // The join runs, and ends. Its group is closed, and the family of the book counts it: the book has ended.
  'join, claimed',
  'join, done',
  'root of the pages',
  'bits of the family',
  'root of the family',
  'book 1, done',
  // The family is closed before anyone learns of the end. Then the next book of the queue has its turn.
  'root of the family',
  'book 2, waiting',
];

const STATES: Record<string, string> = { c: 'claimed', d: 'done', f: 'finished', w: 'waiting' };

function nameOf(key: string, text: string | undefined): string {
  const state = STATES[text?.[0] ?? ''] ?? 'removed';
  if (key.endsWith('#join')) return `join, ${state}`;
  if (key.endsWith('#2')) return `page 2, ${state}`;
  if (key.startsWith('book:')) return `book ${key.at(-1)}, ${state}`;
  return `${key.startsWith('root:') ? 'root' : 'bits'} of the ${key.includes('page[') ? 'pages' : 'family'}`;
}

describe('the end of the last sub-task of a group, whose parent is in a serial queue', () => {
  it('is written step by step: after each write any node can go on', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const { node, end } = await untilLastPage(cluster, log);
    const written: string[] = [];
    for (const texts of [node.driver.tasks, node.driver.groups])
      interceptWrites(texts, ['create', 'replace'], (go, { key, next }) => (written.push(nameOf(key, next)), go()));
    end();
    await cluster.time.advance(1000);
    expect(log).toEqual(['book:1', 'all 2 pages', 'book:2']);
    expect(written.slice(0, IN_ORDER.length)).toEqual(IN_ORDER);
  });

  it.each(IN_ORDER.map((write, index) => [index + 1, write] as const))(
    'goes on in the same order when the node is lost after write %i (%s)',
    async (writes) => {
      const cluster = newCluster();
      const log: string[] = [];
      const { node, end } = await untilLastPage(cluster, log);
      const isLost = loseAfter(node, writes);
      end();
      await cluster.time.advance(100);
      expect(isLost()).toBe(true);
      const other = printer(cluster, log, () => undefined);
      await cluster.time.advance(3 * (LEASE + SWEPT));
      expect(log.filter((line, index) => log.indexOf(line) === index)).toEqual(['book:1', 'all 2 pages', 'book:2']);
      for (const name of [1, 2])
        expect(await other.tasks.find(`book:${name}`)).toMatchObject({ state: 'completed', crashes: 0 });
      expect((await other.tasks.find('book:1'))?.subTasks).toEqual({ total: 1, failed: 0 });
    },
  );
});
