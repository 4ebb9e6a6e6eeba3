import fc from 'fast-check';
import { RetryLaterError, single } from 'nestjs-gatekeeper';
import { RANKS, isLeft, nextLook, patienceOf } from '../../lib/tasks/rules/due-rule.js';
import { OwnTimes } from '../../lib/tasks/sweep/due-timer.js';
import { placeAt } from '../../lib/tasks/rules/task-place.js';
import { START } from '../support/fake-time.js';
import { LEASE, SWEPT, type TaskCluster, type TaskNode, useTaskCluster, worker } from './task-nodes.js';

/** ms within which work begins after its time, whichever node dies. */
const LATE = 100;
const TOLERANCE = 500;

describe('the next look of a node', () => {
  const known = { rank: undefined, since: 1000 };

  it.each([
    ['rank 0 looks at the time that it read', { rank: 0, readIn: 40, regularIn: 500 }, { wait: 40, patience: 0 }],
    ['rank 1 looks 25 ms later', { rank: 1, readIn: 40, regularIn: 500 }, { wait: 65, patience: 25 }],
    ['rank 2 looks 50 ms later', { rank: 2, readIn: 40, regularIn: 500 }, { wait: 90, patience: 50 }],
    ['a node without a rank plans nothing for it', { readIn: 40, regularIn: 500 }, { wait: 500, patience: 100 }],
    ['a process looks at the time that it wrote', { readIn: 30, ownIn: 40, regularIn: 500 }, { wait: 40, patience: 0 }],
    ['the writer looks with any rank', { rank: 2, readIn: 40, ownIn: 40, regularIn: 500 }, { wait: 40, patience: 0 }],
    ['a process without handlers only looks for its own', { readIn: 40, ownIn: 60 }, { wait: 60, patience: 0 }],
    ['the regular look comes first', { rank: 0, readIn: 800, regularIn: 500 }, { wait: 500, patience: 0 }],
    ['more work is done soon', { rank: 1, more: 25, regularIn: 500, since: 4 }, { wait: 6, patience: 25 }],
    ['time has passed', { rank: 0, readIn: -70, regularIn: 500 }, { wait: 0, patience: 0 }],
    ['looks keep a distance', { rank: 0, readIn: -70, regularIn: 500, since: 3 }, { wait: 7, patience: 0 }],
  ])('%s', (_, knowledge, planned) => {
    expect(nextLook({ ...known, ...knowledge })).toEqual(planned);
  });

  it('is none for a node that handles no tasks and delayed none', () => {
    expect(nextLook({ rank: undefined, since: Infinity })).toBeUndefined();
  });

  const times = fc.record({
    readIn: fc.option(fc.integer({ min: -5000, max: 5000 }), { nil: undefined }),
    ownIn: fc.option(fc.integer({ min: -5000, max: 5000 }), { nil: undefined }),
    regularIn: fc.integer({ min: -5000, max: 1100 }),
    since: fc.nat(2000),
  });

  it('comes within the regular time on every node, and never at once after the last one', () => {
    fc.assert(
      fc.property(times, fc.option(fc.nat(RANKS - 1), { nil: undefined }), (knowledge, rank) => {
        const { wait } = nextLook({ ...knowledge, rank })!;
        expect(wait).toBeLessThanOrEqual(Math.max(knowledge.regularIn, 10));
        expect(wait + knowledge.since).toBeGreaterThanOrEqual(10);
      }),
    );
  });

  it('of exactly three ranks follows a time that was read, each at another time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 900 }), (readIn) => {
        const ranks = [0, 1, 2, undefined, undefined, undefined];
        const looks = ranks.map((rank) => nextLook({ rank, readIn, regularIn: 1100, since: 1000 })!);
        const planned = looks.filter(({ wait }) => wait < 1100).map(({ wait }) => wait);
        expect(planned).toEqual([readIn, readIn + 25, readIn + 50]);
        expect(new Set(planned).size).toBe(RANKS);
      }),
    );
  });

  it('leaves work to an earlier rank that is at it, and not to one that is gone', () => {
    expect([patienceOf(0), patienceOf(1), patienceOf(2), patienceOf(undefined)]).toEqual([0, 25, 50, 100]);
    expect(isLeft(0, 'one', undefined)).toBe(true);
    expect(isLeft(25, 'two', 'one')).toBe(false);
    expect(isLeft(25, 'one', 'one')).toBe(true);
    expect(isLeft(100, 'one', undefined)).toBe(true);
  });
});

describe('the due times that a process wrote', () => {
  const text = (at: number) => placeAt('l|', at, 'mail:1');

  it('are kept in their order, each once, if they come soon and are of delayed tasks', () => {
    const own = new OwnTimes();
    expect([300, 100, 200, 100].map((at) => own.note(text(at), 0))).toEqual([true, true, false, false]);
    for (const other of [placeAt('w|mail|1|', 50, 'mail:1'), placeAt('c|', 50, 'mail:1')]) own.note(other, 0);
    own.note(text(1_000_000), 0);
    const order: (number | undefined)[] = [];
    for (; own.first !== undefined; own.passed(own.first)) order.push(own.first);
    expect(order).toEqual([101, 201, 301]);
  });

  it('do not grow without limit', () => {
    const own = new OwnTimes();
    for (let at = 1400; at > 0; at -= 0.5) own.note(text(at * 1000), at * 1000);
    let count = 0;
    for (; own.first !== undefined; own.passed(own.first)) count++;
    expect(count).toBeLessThanOrEqual(1000);
  });
});

/** Nodes that work on `mail`, and how late each task began. */
class Delays {
  readonly late: number[] = [];
  readonly nodes: TaskNode[] = [];

  constructor(
    readonly cluster: TaskCluster,
    nodes: number,
  ) {
    for (let count = 0; count < nodes; count++) this.add();
  }

  add(): TaskNode {
    const node = this.cluster.node();
    const work = ({ data }: { data: unknown }) => void this.late.push(this.now - (data as number));
    node.tasks.handlers.handle('mail', work, { lease: LEASE, concurrency: 100 });
    node.tasks.handlers.start();
    this.nodes.push(node);
    return node;
  }

  get now(): number {
    return this.cluster.time.cluster();
  }

  /** The node that looks first. */
  async sweeping(): Promise<TaskNode> {
    await this.cluster.time.advance(SWEPT);
    return this.nodes[0]!;
  }

  async submit(by: TaskNode, count: number, delay: (number: number) => number): Promise<void> {
    for (let number = 0; number < count; number++) {
      const due = this.now + delay(number);
      await by.tasks.submit(single('mail', `${by.context.node.acquirer}-${number}-${due}`), due, {
        runAt: new Date(due),
      });
    }
  }
}

describe('delayed tasks', () => {
  const newCluster = useTaskCluster();
  /** ms, from very short ones to those that all nodes read before. */
  const delay = (number: number) => 5 + ((number * 37) % 2000);

  it.each([1, 3, 8])('begin in time on %d nodes', async (nodes) => {
    const delays = new Delays(newCluster(), nodes);
    await delays.sweeping();
    for (const node of delays.nodes) await delays.submit(node, 40, delay);
    await delays.cluster.time.advance(2500);
    expect(delays.late).toHaveLength(40 * nodes);
    expect(Math.min(...delays.late)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...delays.late)).toBeLessThanOrEqual(LATE);
  });

  it('of a process without handlers begin in time', async () => {
    const delays = new Delays(newCluster(), 3);
    await delays.sweeping();
    await delays.submit(delays.cluster.node(), 40, delay);
    await delays.cluster.time.advance(2500);
    expect(delays.late).toHaveLength(40);
    expect(Math.max(...delays.late)).toBeLessThanOrEqual(LATE);
  });

  it.each([
    ['the node that looks first', [0]],
    ['the second one', [1]],
    ['the first two', [0, 1]],
    ['the first two and the one that submitted', [0, 1, 4]],
  ])('begin in time if these die before their time: %s', async (_, dying) => {
    const delays = new Delays(newCluster(), 5);
    await delays.sweeping();
    await delays.submit(delays.nodes[4]!, 60, (number) => 1200 + number * 20);
    for (const index of dying) delays.cluster.die(delays.nodes[index]!);
    await delays.cluster.time.advance(4000);
    expect(delays.late).toHaveLength(60);
    expect(Math.max(...delays.late)).toBeLessThanOrEqual(LATE);
  });

  it('were in the store before the nodes began, and begin in time', async () => {
    const delays = new Delays(newCluster(), 0);
    await delays.submit(delays.cluster.node(), 40, (number) => 20_000 + 30 * number);
    for (let count = 0; count < 3; count++) delays.add();
    await delays.cluster.time.advance(22_000);
    expect(delays.late).toHaveLength(40);
    expect(Math.max(...delays.late)).toBeLessThanOrEqual(LATE);
  });

  it('begin within about a second if all nodes die that look at their time', async () => {
    const delays = new Delays(newCluster(), 4);
    await delays.sweeping();
    await delays.submit(delays.nodes[3]!, 10, () => 2000);
    for (const node of delays.nodes.slice(0, 3)) delays.cluster.die(node);
    await delays.cluster.time.advance(4000);
    expect(delays.late).toHaveLength(10);
    expect(Math.max(...delays.late)).toBeLessThanOrEqual(LATE + 1100);
  });

  it('begin in time on a machine whose clock is wrong', async () => {
    const delays = new Delays(newCluster(), 3);
    await delays.sweeping();
    delays.cluster.time.jumpWall(-3_600_000);
    await delays.cluster.time.advance(30_000);
    await delays.submit(delays.nodes[1]!, 20, delay);
    await delays.cluster.time.advance(2500);
    expect(delays.late).toHaveLength(20);
    expect(Math.min(...delays.late)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...delays.late)).toBeLessThanOrEqual(LATE);
  });

  it('begin in time again after a failure, and after RetryLaterError', async () => {
    const cluster = newCluster();
    const begun: number[] = [];
    const node = cluster.node();
    const work = () => {
      begun.push(cluster.time.cluster());
      if (begun.length === 1) throw new Error('not yet');
      if (begun.length === 2) throw new RetryLaterError(300);
    };
    node.tasks.handlers.handle('mail', work, { lease: LEASE });
    node.tasks.handlers.start();
    await cluster.time.advance(SWEPT);
    await node.tasks.submit(single('mail', '1'), 1, { backoff: { first: 200, longest: 200 } });
    await cluster.time.advance(2000);
    expect(begun).toHaveLength(3);
    expect(begun[1]! - begun[0]!).toBeLessThanOrEqual(200 + LATE);
    expect(begun[2]! - begun[1]!).toBeLessThanOrEqual(300 + LATE);
  });
});

describe('an attempt whose node dies', () => {
  const newCluster = useTaskCluster();

  /** Begins an attempt on the node of this number, which then dies with others. @returns ms from the end of its lease */
  async function takenOverAfter(nodes: number, dying: readonly number[]): Promise<number> {
    const cluster = newCluster();
    const begun: { readonly node: number; readonly at: number }[] = [];
    const all = Array.from({ length: nodes }, (_, index) => {
      const node = cluster.node();
      const work = () => {
        begun.push({ node: index, at: cluster.time.cluster() });
        return new Promise(() => undefined);
      };
      node.tasks.handlers.handle('mail', work, { lease: LEASE, keepAlive: false });
      node.tasks.handlers.start();
      return node;
    });
    await cluster.time.advance(SWEPT);
    for (const [index, node] of all.entries()) if (index !== dying[0]) node.tasks.handlers.pauseType('mail');
    await all[dying[0]!]!.tasks.submit(single('mail', '1'));
    await cluster.time.advance(1000);
    for (const index of dying) cluster.die(all[index]!);
    for (const node of all) node.tasks.handlers.resumeType('mail');
    await cluster.time.advance(LEASE + TOLERANCE + 3000);
    expect(begun).toHaveLength(2);
    expect(begun.map(({ node }) => dying.includes(node))).toEqual([true, false]);
    return begun[1]!.at - begun[0]!.at - LEASE;
  }

  it.each([
    ['which looks first', [0]],
    ['which looks second', [1]],
    ['which has no rank', [4]],
    ['with the two that look first', [4, 0, 1]],
  ])('is taken over within 100 ms after lease and tolerance: %s', async (_, dying) => {
    const after = await takenOverAfter(5, dying);
    expect(after).toBeGreaterThan(TOLERANCE);
    expect(after).toBeLessThanOrEqual(TOLERANCE + LATE);
  });

  it('is taken over within about a second after that if all three die that look', async () => {
    expect(await takenOverAfter(5, [4, 0, 1, 2])).toBeLessThanOrEqual(TOLERANCE + LATE + 1100);
  });
});

describe('a task whose hints go to nodes that die', () => {
  const newCluster = useTaskCluster();

  /** The next hints that any of the nodes offers are lost. */
  function loseHints(nodes: readonly TaskNode[], count: number): void {
    let left = count;
    for (const { tasks } of nodes.map(({ driver }) => driver)) {
      const write = tasks.compareAndSet.bind(tasks);
      tasks.compareAndSet = (key, former, next, { hint, ...options } = {}) =>
        write(key, former, next, hint && left-- <= 0 ? { ...options, hint } : options);
    }
  }

  it.each([
    ['one hint', 1, {}],
    ['two hints', 2, {}],
    ['a ticket of a fair key', 1, { fairKey: 'customer' }],
    ['a hint of another priority', 1, { priority: 'low' }],
  ] as const)('begins within a second after its time: %s', async (_, count, options) => {
    const delays = new Delays(newCluster(), 3);
    const node = await delays.sweeping();
    loseHints(delays.nodes, count);
    const due = delays.now + 700;
    for (const id of ['x', 'y']) await node.tasks.submit(single('mail', id), due, { runAt: new Date(due), ...options });
    await delays.cluster.time.advance(1700);
    expect(delays.late).toHaveLength(2);
  });

  it('is taken over within a second after its lease and tolerance', async () => {
    const cluster = newCluster();
    const begun: number[] = [];
    const nodes = Array.from({ length: 4 }, () =>
      worker(
        cluster,
        () => {
          begun.push(cluster.time.cluster());
          return new Promise(() => undefined);
        },
        false,
      ),
    );
    await cluster.time.advance(SWEPT);
    for (const node of nodes.slice(0, 3)) node.tasks.handlers.pauseType('mail');
    await nodes[3]!.tasks.submit(single('mail', 'x'));
    await cluster.time.advance(1000);
    cluster.die(nodes[3]!);
    for (const node of nodes) node.tasks.handlers.resumeType('mail');
    loseHints(nodes, 1);
    await cluster.time.advance(LEASE + TOLERANCE);
    expect(begun).toHaveLength(2);
    expect(begun[1]! - begun[0]!).toBeLessThanOrEqual(LEASE + TOLERANCE + 1000);
  });

  it('gets no other hint while no node takes the one that it has', async () => {
    const delays = new Delays(newCluster(), 3);
    const node = await delays.sweeping();
    for (const each of delays.nodes) each.tasks.handlers.pauseType('mail');
    await delays.submit(node, 20, () => 700);
    await delays.cluster.time.advance(8000);
    expect(await node.driver.queue('mail.normal').size()).toBe(20);
  });
});

describe('nodes with nothing to do', () => {
  const newCluster = useTaskCluster();

  it.each([3, 100])('read the tasks as often each if there are %d of them', async (count) => {
    const delays = new Delays(newCluster(), count);
    await delays.submit(delays.nodes[0]!, 1, () => 3_600_000);
    await delays.sweeping();
    let reads = 0;
    for (const { driver } of delays.nodes) {
      const { tasks } = driver;
      const range = tasks.range.bind(tasks);
      tasks.range = (...args) => (reads++, range(...args));
    }
    await delays.cluster.time.advance(60_000);
    expect(reads / count).toBeGreaterThan(50);
    expect(reads / count).toBeLessThanOrEqual(3 * 67);
  });

  it('do not all come when a task is due', async () => {
    const delays = new Delays(newCluster(), 30);
    await delays.sweeping();
    const due = START + delays.cluster.time.monotonic() + 60_000;
    await delays.submit(delays.nodes[7]!, 1, () => 60_000);
    await delays.cluster.time.advance(59_990);
    let looks = 0;
    for (const { driver } of delays.nodes) {
      const { tasks } = driver;
      const range = tasks.range.bind(tasks);
      tasks.range = (...args) => {
        if (args[0].startsWith('l|')) looks++;
        return range(...args);
      };
    }
    await delays.cluster.time.advance(100);
    expect(delays.late).toHaveLength(1);
    expect(delays.now).toBeGreaterThan(due);
    // Three ranks, a read or two each, and the regular looks of a tenth of the others.
    expect(looks).toBeLessThanOrEqual(15);
  });
});
