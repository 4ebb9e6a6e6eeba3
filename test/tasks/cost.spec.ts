import { InvalidTaskError, grouped, single } from 'nestjs-gatekeeper';
import { type WriteKind, kindOf, interceptWrites } from '../support/writes.js';
import { LEASE, type TaskNode, useTaskCluster, worker } from './task-nodes.js';

const MINUTE = 60_000;
/** Looks in a minute that come about once a second: each pause may be a tenth shorter. */
const ONCE_A_SECOND = 67;
/** Looks in a minute of the node that sweeps: for due work, and every 2.5 s for all other work. */
const SWEEPING = ONCE_A_SECOND + 27;

/** Counts the calls for tasks of a node from now on, by method; writes by their kind, ranges by the letter at which they begin. */
function countCalls({ context }: TaskNode): Record<string, number> {
  const counts: Record<string, number> = {};
  const { tasks, groups } = context.store;
  const queue = context.store.queue.bind(context.store);
  const counted = <O extends object>(object: O): O => {
    const note =
      (name: string, call: (...args: unknown[]) => unknown) =>
      (...args: unknown[]) => {
        const key = calledBy(name, args);
        counts[key] = (counts[key] ?? 0) + 1;
        return call.apply(object, args);
      };
    const entries = Object.entries(object) as [string, (...args: unknown[]) => unknown][];
    return Object.assign(object, Object.fromEntries(entries.map(([name, call]) => [name, note(name, call)])));
  };
  counted(tasks);
  counted(groups);
  Object.assign(context.store, { queue: (name: string) => counted(queue(name)) });
  return counts;
}

function calledBy(name: string, args: readonly unknown[]): string {
  if (name === 'range') return `range ${String(args[0])[0]}`;
  if (name !== 'compareAndSet') return name;
  const [, expected, next] = args as [string, string | undefined, string | undefined];
  return kindOf({ expected, next });
}

function rangesIn(counts: Record<string, number>, letters = 'abcdeflpstuwx'): number {
  return [...letters].reduce((sum, letter) => sum + (counts[`range ${letter}`] ?? 0), 0);
}

/** Counts the timers of a node that run from now on. */
function countTimers({ context: { nodeClock } }: TaskNode): { fired: number } {
  const counts = { fired: 0 };
  const schedule = nodeClock.schedule.bind(nodeClock);
  nodeClock.schedule = (action, ...rest) => schedule(() => (counts.fired++, action()), ...rest);
  return counts;
}

/** A node whose first looks are over. */
async function idleWorker(cluster: ReturnType<ReturnType<typeof useTaskCluster>>): Promise<TaskNode> {
  const node = worker(cluster, () => undefined);
  await cluster.time.advance(MINUTE / 2);
  return node;
}

describe('a node with nothing to do', () => {
  const newCluster = useTaskCluster();

  it('reads the tasks once a second, and every 2.5 s if it sweeps, and waits for hints', async () => {
    const cluster = newCluster();
    const node = worker(cluster, () => undefined);
    const counts = countCalls(node);
    await cluster.time.advance(MINUTE / 2);
    for (const key of Object.keys(counts)) counts[key] = 0;
    await cluster.time.advance(MINUTE);
    const { poll = 0, ...others } = counts;
    expect(rangesIn(counts)).toBeGreaterThan(50);
    expect(rangesIn(counts)).toBeLessThanOrEqual(SWEEPING);
    // One of each of three queues every 5 s.
    expect(poll).toBeLessThanOrEqual(3 * 12);
    const rest = Object.entries(others).filter(([key, count]) => count > 0 && !/^range [ac]$/.test(key));
    expect(rest).toEqual([]);
  });

  it('wakes up for addressed tasks with its look for due ones, not once more', async () => {
    const cluster = newCluster();
    const timers = countTimers(worker(cluster, () => undefined));
    await cluster.time.advance(MINUTE / 2);
    timers.fired = 0;
    await cluster.time.advance(MINUTE);
    // Besides its looks, for three polls every 5 s, and a few for what it looks at each 10 s.
    expect(timers.fired).toBeGreaterThan(50);
    expect(timers.fired).toBeLessThan(SWEEPING + 3 * 12 + 20);
  });

  it('reads once more per look if ended tasks are remembered', async () => {
    const cluster = newCluster();
    const node = worker(cluster, ({ id }) => {
      if (id.endsWith('0')) throw new InvalidTaskError('no');
    });
    for (let i = 0; i < 20; i++) await node.tasks.submit(single('mail', `m${i}`), 1);
    await cluster.time.advance(MINUTE / 2);
    const counts = countCalls(node);
    await cluster.time.advance(MINUTE);
    expect(rangesIn(counts)).toBeLessThanOrEqual(2 * SWEEPING);
  });

  it.each([
    ['second node that sweeps', 1, 9],
    ['node that does not sweep', 3, 0],
  ])('reads the tasks once a second, for addressed ones, too, as the %s', async (_, others, sweeps) => {
    const cluster = newCluster();
    for (let count = 0; count < others; count++) await idleWorker(cluster);
    const counts = countCalls(await idleWorker(cluster));
    await cluster.time.advance(MINUTE);
    expect(rangesIn(counts)).toBeGreaterThan(50);
    expect(rangesIn(counts)).toBeLessThanOrEqual(ONCE_A_SECOND + sweeps);
  });

  it('finds each task within about a second that another node addresses to it, although it sweeps', async () => {
    const cluster = newCluster();
    const [node, other] = [await idleWorker(cluster), cluster.node()];
    for (let i = 1; i <= 10; i++) {
      await other.tasks.submit(single('mail', `m${i}`), 1, { to: node.context.node.acquirer });
      await cluster.time.advance(1250);
      expect(node.of('task-ended')).toHaveLength(i);
      await cluster.time.advance(3000);
    }
  });
});

describe('a task', () => {
  const newCluster = useTaskCluster();

  it('costs one write to submit, one to claim and one to end, and no read', async () => {
    const cluster = newCluster();
    const node = await idleWorker(cluster);
    const counts = countCalls(node);
    const submitting = Array.from({ length: 64 }, (_, i) => node.tasks.submit(single('mail', `m${i}`), 1));
    await Promise.all(submitting);
    // Hints go with the writes of their tasks.
    expect(counts).toMatchObject({ create: 64 });
    expect(counts.offer ?? 0).toBe(0);
    await cluster.time.advance(1000);
    expect(node.of('task-ended')).toHaveLength(64);
    expect(counts).toMatchObject({ create: 64, replace: 128 });
    expect(counts.read ?? 0).toBe(0);
  });

  it.each([true, false])(
    'of a group shares the write of its root with others of its process (total known: %s)',
    async (isKnown) => {
      const cluster = newCluster();
      const node = await idleWorker(cluster);
      const writes: WriteKind[] = [];
      interceptWrites(node.driver.groups, ['create', 'replace'], (go, write) => {
        if (write.key.startsWith('root:')) writes.push(kindOf(write));
        return go();
      });
      const submitting = Array.from({ length: 64 }, (_, i) =>
        node.tasks.submit(grouped('import', 'june', i + 1, isKnown ? 64 : undefined), 1),
      );
      await Promise.all(submitting);
      expect(writes.length).toBeLessThanOrEqual(2);
    },
  );

  it('of a long handler is renewed together with the others of its node', async () => {
    const cluster = newCluster();
    const node = cluster.node();
    node.tasks.handlers.handle('mail', () => new Promise(() => undefined), { lease: LEASE, concurrency: 10 });
    node.tasks.handlers.start();
    await cluster.time.advance(1000);
    for (let i = 0; i < 10; i++) {
      await node.tasks.submit(single('mail', `m${i}`), 1);
      await cluster.time.advance(70);
    }
    const times: number[] = [];
    interceptWrites(node.driver.tasks, 'replace', (go) => (times.push(cluster.time.monotonic()), go()));
    await cluster.time.advance(9 * (LEASE / 3));
    // Each as often as alone: every third of its lease.
    expect(times.length).toBeGreaterThanOrEqual(10 * 8);
    expect(times.length).toBeLessThanOrEqual(10 * 10);
    expect(new Set(times.map(Math.round)).size).toBeLessThanOrEqual(2 * 10);
  });
});
