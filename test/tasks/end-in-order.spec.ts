import { type TaskContext, grouped, single } from '../../lib/tasks/index.js';
import { FAMILY, familyOf } from '../../lib/tasks/rules/sub-name.js';
import { readableTask } from '../../lib/tasks/rules/task.codec.js';
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

const STATES: Record<string, string> = { b: 'blocked', c: 'claimed', d: 'done', f: 'finished', w: 'waiting' };

function nameOf(key: string, text: string | undefined): string {
  const state = STATES[text?.[0] ?? ''] ?? 'removed';
  if (key.endsWith('#join')) return `join, ${state}`;
  if (key.endsWith('#2')) return `page 2, ${state}`;
  if (key.startsWith('book:')) return `book ${key.at(-1)}, ${state}`;
  return `${key.startsWith('root:') ? 'root' : 'bits'} of the ${key.includes('page[') ? 'pages' : 'family'}`;
}

/** Notes the writes of a node from now on. */
function writesOf({ driver }: TaskNode): string[] {
  const written: string[] = [];
  for (const texts of [driver.tasks, driver.groups])
    interceptWrites(texts, ['create', 'replace'], (go, { key, next }) => (written.push(nameOf(key, next)), go()));
  return written;
}

/** The writes that were left, as far as another node has not made them in this order. It may make others: new hints, and looks. */
function missingIn(taken: readonly string[], left: readonly string[]): string[] {
  let from = 0;
  return left.filter((write) => {
    const at = taken.indexOf(write, from);
    if (at >= 0) from = at + 1;
    return at < 0;
  });
}

/** All tasks with their states, and the states of the groups of pages and of the family. */
async function endState(cluster: TaskCluster, { store }: TaskNode) {
  const tasks = (await cluster.texts()).flatMap((text) => readableTask(text) ?? []);
  const pages = tasks.find(({ id }) => id.endsWith('#1'))!.member!;
  const { id, split } = tasks.find((task) => task.split !== undefined)!;
  return {
    tasks: tasks.map((task) => `${task.id.replace(/\^.*\//, '')}: ${task.state}, ${task.ending?.outcome}`).toSorted(),
    pages: (await store.groups.find('page', pages))?.state,
    family: (await store.groups.find(FAMILY, familyOf(id, split!)))?.state,
  };
}

const ENDED = {
  tasks: ['book:1', 'book:2', 'page[all]#1', 'page[all]#2', 'page[all]#join'].map((id) => `${id}: finished, completed`),
  pages: 'closed',
  family: 'closed',
};

describe('the end of the last sub-task of a group, whose parent is in a serial queue', () => {
  it('is written step by step: after each write any node can go on', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const { node, end } = await untilLastPage(cluster, log);
    const written = writesOf(node);
    end();
    await cluster.time.advance(1000);
    expect(log).toEqual(['book:1', 'all 2 pages', 'book:2']);
    expect(written.slice(0, IN_ORDER.length)).toEqual(IN_ORDER);
    expect(await endState(cluster, node)).toEqual(ENDED);
  });

  it.each(IN_ORDER.map((write, index) => [index + 1, write] as const))(
    'is carried on by the sweep of another node, in the same order and to the same end, when its node is lost after write %i (%s)',
    async (writes) => {
      const cluster = newCluster();
      const log: string[] = [];
      const { node, end } = await untilLastPage(cluster, log);
      const isLost = loseAfter(node, writes);
      end();
      await cluster.time.advance(100);
      expect(isLost()).toBe(true);
      const other = printer(cluster, log, () => undefined);
      const taken = writesOf(other);
      await cluster.time.advance(3 * (LEASE + SWEPT));
      expect(log.filter((line, index) => log.indexOf(line) === index)).toEqual(['book:1', 'all 2 pages', 'book:2']);
      for (const name of [1, 2])
        expect(await other.tasks.find(`book:${name}`)).toMatchObject({ state: 'completed', crashes: 0 });
      expect(missingIn(taken, IN_ORDER.slice(writes))).toEqual([]);
      expect(await endState(cluster, other)).toEqual(ENDED);
      expect((await other.tasks.find('book:1'))?.subTasks).toEqual({ total: 1, failed: 0 });
    },
  );
});
