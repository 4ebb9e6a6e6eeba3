import { InvalidOptionsError, LeaseExpiredError } from 'nestjs-gatekeeper';
import { type TaskContext, grouped, single } from '../../lib/tasks/index.js';
import { openEnd } from '../support/nodes.js';
import { LEASE, SHORT_GROUP, SWEPT, type TaskCluster, type TaskNode, loseAfter, useTaskCluster } from './task-nodes.js';

const newCluster = useTaskCluster();
const SHORT = { retention: '5m', deadLetterRetention: '5m', backoff: { first: 100, longest: 100 } } as const;

/** Effects of handlers, in order. */
type Log = string[];

/** A node that handles parents of the type `book`, and their sub-tasks `page` and `cover`. */
function printer(cluster: TaskCluster, log: Log, generate: (book: TaskContext) => unknown): TaskNode {
  const node = cluster.node();
  node.tasks.handlers.handle('book', (book) => generate(book), { lease: LEASE });
  node.tasks.handlers.handle(
    'page',
    ({ data }) => {
      if (data === 'bad') throw new Error('no ink');
      log.push(`page ${String(data)}`);
    },
    { lease: LEASE },
  );
  node.tasks.handlers.handle('cover', ({ data }) => void log.push(`cover ${String(data)}`), { lease: LEASE });
  node.tasks.handlers.onGroupFinished(
    'page',
    (pages) => void log.push(`${pages.group}: ${pages.completed} of ${pages.total}`),
    { lease: LEASE, ...SHORT_GROUP },
  );
  node.tasks.handlers.onGroupFinished('book', ({ group, total }) => void log.push(`all ${total} books of ${group}`), {
    lease: LEASE,
    ...SHORT_GROUP,
  });
  node.tasks.handlers.start();
  return node;
}

async function submitBooks({ tasks }: TaskNode, ...books: unknown[]): Promise<void> {
  for (const [index, data] of books.entries())
    await tasks.submit(grouped('book', 'shelf', index + 1, books.length), data, { ...SHORT, maxCrashes: 100 });
}

/** A cover, and a group of three pages. */
async function coverAndPages({ submit, submitMany }: TaskContext): Promise<string> {
  await submit(single('cover', 'front'), 'front', SHORT);
  await submitMany([1, 2, 3].map((page) => ({ name: grouped('page', 'pages', page, 3), data: page, options: SHORT })));
  return 'generated';
}

describe('a task with sub-tasks', () => {
  it('ends after them and the handlers of their groups, and so does its own group', async () => {
    const cluster = newCluster();
    const log: Log = [];
    const node = printer(cluster, log, coverAndPages);
    await submitBooks(node, 'a');
    await cluster.time.advance(3000);
    expect(log.slice(0, 4).toSorted()).toEqual(['cover front', 'page 1', 'page 2', 'page 3']);
    expect(log.slice(4)).toEqual(['pages: 3 of 3', 'all 1 books of shelf']);
    expect(await node.tasks.find('book[shelf]#1')).toMatchObject({
      state: 'completed',
      result: 'generated',
      subTasks: { total: 2, failed: 0 },
    });
  });

  it('is known while they run, and has no result to count yet', async () => {
    const cluster = newCluster();
    const log: Log = [];
    const { work, end } = openEnd();
    const node = cluster.node();
    node.tasks.handlers.handle('book', (book) => book.submit(single('slow', 'x')).then(() => 'generated'));
    node.tasks.handlers.handle('slow', work);
    node.tasks.handlers.onGroupFinished('book', () => void log.push('shelf'));
    node.tasks.handlers.start();
    await submitBooks(node, 'a');
    await cluster.time.advance(3 * LEASE);
    const again = await node.tasks.submit(grouped('book', 'shelf', 1, 1), 'a');
    expect(again).toMatchObject({ outcome: 'known', because: 'its sub-tasks have not ended' });
    expect(log).toEqual([]);
    end();
    await cluster.time.advance(1000);
    expect(log).toEqual(['shelf']);
  });

  it('completes although some of them fail, and counts those', async () => {
    const cluster = newCluster();
    const log: Log = [];
    const node = printer(cluster, log, async ({ submit }) => {
      for (const data of ['good', 'bad']) await submit(single('page', data), data, { ...SHORT, maxAttempts: 1 });
    });
    await submitBooks(node, 'a');
    await cluster.time.advance(3000);
    expect(log).toEqual(['page good', 'all 1 books of shelf']);
    expect(await node.tasks.find('book[shelf]#1')).toMatchObject({
      state: 'completed',
      subTasks: { total: 2, failed: 1 },
    });
  });

  it('that fails for good ends after those that it has submitted', async () => {
    const cluster = newCluster();
    const { work, end } = openEnd();
    const node = cluster.node();
    node.tasks.handlers.handle('book', async ({ submit }) => {
      await submit(single('slow', 'x'));
      throw new Error('no paper');
    });
    node.tasks.handlers.handle('slow', work);
    node.tasks.handlers.start();
    await node.tasks.submit(single('book', 'a'), 'a', { maxAttempts: 1 });
    await cluster.time.advance(LEASE);
    expect(await node.tasks.find('book:a')).toMatchObject({ state: 'awaiting', lastError: { message: 'no paper' } });
    end();
    await cluster.time.advance(1000);
    expect(await node.tasks.find('book:a')).toMatchObject({ state: 'failed', subTasks: { total: 1, failed: 0 } });
  });

  it('runs them again when it runs again after its end', async () => {
    const cluster = newCluster();
    const log: Log = [];
    const node = printer(cluster, log, coverAndPages);
    for (let night = 1; night <= 3; night++) {
      await submitBooks(node, 'a');
      await cluster.time.advance(3000);
    }
    expect(log).toHaveLength(3 * 6);
    expect(log.filter((line) => line === 'pages: 3 of 3')).toHaveLength(3);
  });

  it('is forgotten with all of them, and they are not forgotten before it ends', async () => {
    const cluster = newCluster();
    const log: Log = [];
    const { work, end } = openEnd();
    const node = printer(cluster, log, async (book) => {
      await coverAndPages(book);
      await work();
      await coverAndPages(book);
    });
    await submitBooks(node, 'a');
    await cluster.time.advance(30 * 60_000);
    end();
    await cluster.time.advance(1000);
    expect(log).toHaveLength(6);
    await cluster.time.advance(30 * 60_000);
    expect(await cluster.texts()).toEqual([]);
  });

  it('has as many as it wants, over all pages of the lists', async () => {
    const cluster = newCluster();
    const log: Log = [];
    const node = printer(cluster, log, async ({ submitMany }) => {
      await submitMany(Array.from({ length: 1100 }, (_, page) => ({ name: single('page', `${page}`), data: page })));
    });
    await submitBooks(node, 'a');
    await cluster.time.advance(10_000);
    expect(new Set(log).size).toBe(1101);
    expect(log).toHaveLength(1101);
    expect((await node.tasks.find('book[shelf]#1'))?.subTasks).toEqual({ total: 1100, failed: 0 });
  });

  it('needs no total for a group: its end says how many there are', async () => {
    const cluster = newCluster();
    const log: Log = [];
    const node = printer(cluster, log, async ({ submit }) => {
      for (const page of [2, 1, 4]) await submit(grouped('page', 'pages', page), page, SHORT);
    });
    await submitBooks(node, 'a');
    await cluster.time.advance(3000);
    // Number 3 was never submitted.
    expect(log.slice(-2)).toEqual(['pages: 3 of 4', 'all 1 books of shelf']);
  });

  it('may be the handler of a group, which then ends after them', async () => {
    const cluster = newCluster();
    const log: Log = [];
    const node = cluster.node();
    node.tasks.handlers.handle('part', () => log.push('part'));
    node.tasks.handlers.handle('letter', () => log.push('letter'));
    node.tasks.handlers.onGroupFinished('part', ({ submit }) => submit(single('letter', 'end')).then(() => undefined));
    node.tasks.handlers.start();
    await node.tasks.submit(grouped('part', 'june', 1, 1));
    await cluster.time.advance(2000);
    expect(log).toEqual(['part', 'letter']);
    expect((await node.tasks.find('part[june]#join'))?.subTasks).toEqual({ total: 1, failed: 0 });
  });
});

describe('names of sub-tasks', () => {
  it('belong to their parent, whatever the depth, and do not grow', async () => {
    const cluster = newCluster();
    const ids: string[] = [];
    const node = cluster.node();
    node.tasks.handlers.handle('nest', async ({ id, data, submit }) => {
      ids.push(id);
      if ((data as number) > 0) await submit(single('nest', 'x'.repeat(200)), (data as number) - 1);
    });
    node.tasks.handlers.start();
    for (const name of ['a', 'b']) await node.tasks.submit(single('nest', name), 4);
    await cluster.time.advance(3000);
    expect(new Set(ids).size).toBe(10);
    expect(Math.max(...ids.map(({ length }) => length))).toBe('nest:^/'.length + 22 + 200);
  });

  it('are not those of other tasks', () => {
    expect(() => single('page', '^x/1')).toThrow('begins with "^", as only names of sub-tasks do');
    expect(() => grouped('page', '^x/1', 1)).toThrow(InvalidOptionsError);
  });
});

describe('a node that is lost while it works on a tree of tasks', () => {
  /** Three levels: books, with a chapter as sub-task, which has a cover and a group of pages. */
  function tree(cluster: TaskCluster, log: Log): TaskNode {
    const node = printer(cluster, log, async ({ submit }) => {
      await submit(single('cover', 'front'), 'front', SHORT);
      await submit(single('chapter', 'one'), 'one', { ...SHORT, maxCrashes: 100 });
    });
    node.tasks.handlers.handle('chapter', (chapter) => coverAndPages(chapter), { lease: LEASE });
    return node;
  }

  // A tree without a crash needs more writes than that. A number that is not reached would test nothing.
  it.each(Array.from({ length: 60 }, (_, index) => index + 1))(
    'after %i writes leaves nothing undone, and nothing runs in the wrong order',
    async (writes) => {
      const cluster = newCluster();
      const log: Log = [];
      const lost = tree(cluster, log);
      const isLost = loseAfter(lost, writes);
      await submitBooks(cluster.node(), 'a');
      await cluster.time.advance(1000);
      expect(isLost()).toBe(true);
      const node = tree(cluster, log);
      await cluster.time.advance(3 * (LEASE + SWEPT));
      const last = 'all 1 books of shelf';
      // An effect of the lost node may be there twice: its handler had run, and its end was not noted.
      const twice = log.filter((line, index) => log.indexOf(line) < index && line !== 'cover front');
      expect(twice.length).toBeLessThanOrEqual(6);
      expect(log.filter((line) => line === 'cover front').length).toBeGreaterThanOrEqual(2);
      for (const page of [1, 2, 3]) expect(log.indexOf(`page ${page}`)).toBeLessThan(log.indexOf('pages: 3 of 3'));
      expect(log.indexOf(last)).toBeGreaterThan(log.indexOf('pages: 3 of 3'));
      expect(log.lastIndexOf('cover front')).toBeLessThan(log.indexOf(last));
      expect((await node.tasks.find('book[shelf]#1'))?.subTasks).toEqual({ total: 2, failed: 0 });
    },
  );
});

describe('an attempt that another one has replaced', () => {
  it('submits nothing more', async () => {
    const cluster = newCluster();
    const { work, end } = openEnd();
    const errors: unknown[] = [];
    const first = cluster.node();
    first.tasks.handlers.handle(
      'book',
      async ({ submit }) => {
        await submit(single('page', '1'), 1);
        await work();
        await submit(single('page', '2')).catch((error: unknown) => errors.push(error));
      },
      { lease: LEASE, keepAlive: false, concurrency: 1 },
    );
    first.tasks.handlers.start();
    await first.tasks.submit(single('book', 'a'));
    await cluster.time.advance(1000);
    const log: Log = [];
    const other = printer(cluster, log, ({ submit }) => submit(single('page', '1'), 1).then(() => 'second'));
    await cluster.time.advance(LEASE + SWEPT);
    end();
    await cluster.time.advance(1000);
    expect(errors).toEqual([expect.any(LeaseExpiredError)]);
    expect(log).toEqual(['page 1']);
    expect(await other.tasks.find('book:a')).toMatchObject({ result: 'second', subTasks: { total: 1 } });
  });

  it('leaves a sub-task behind that it announced only: it counts as cancelled', async () => {
    const cluster = newCluster();
    const lost = cluster.node();
    lost.tasks.handlers.handle('book', ({ submit }) => submit(single('page', 'old'), 'old'), { lease: LEASE });
    lost.tasks.handlers.start();
    // Claim, note of sub-tasks, their root, their list: the next one would be the sub-task.
    loseAfter(lost, 4);
    await cluster.node().tasks.submit(single('book', 'a'));
    await cluster.time.advance(1000);
    const log: Log = [];
    const node = printer(cluster, log, ({ submit }) => submit(single('page', 'new'), 'new'));
    await cluster.time.advance(LEASE + 2 * SWEPT);
    expect(log).toEqual(['page new']);
    expect(await node.tasks.find('book:a')).toMatchObject({ state: 'completed', subTasks: { total: 2, failed: 1 } });
  });
});
