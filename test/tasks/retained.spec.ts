import { parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { InvalidTaskError, grouped, single } from '../../lib/tasks/index.js';
import type { GroupContext, TaskFunction } from '../../lib/tasks/index.js';
import { TaskStore } from '../../lib/tasks/records/task-store.js';
import { LEASE, SWEPT, type TaskCluster, type TaskNode, useTaskCluster } from './task-nodes.js';

const newCluster = useTaskCluster();
const LIMIT = 1_048_576;
/** 30 tasks with this are 1.8 MB. */
const LARGE = 'x'.repeat(60_000);
const MINUTE = 60_000;
const DAY = 86_400_000;

function worker(cluster: TaskCluster, handler: TaskFunction = () => 1, maxRetainedBytes: number | undefined = LIMIT) {
  const node = cluster.node({ ...(maxRetainedBytes > 0 && { maxRetainedBytes }) });
  node.tasks.handlers.handle('mail', handler, { lease: LEASE, concurrency: 1 });
  node.tasks.handlers.start();
  return node;
}

const name = (i: number) => single('mail', `m${String(i).padStart(2, '0')}`);

async function submit(node: TaskNode, count: number, options = {}) {
  await node.tasks.submitMany(Array.from({ length: count }, (_, i) => ({ name: name(i), data: LARGE, options })));
}

/** Bytes of all ended tasks. */
async function endedBytes(cluster: TaskCluster): Promise<number> {
  const texts = (await cluster.texts(1000)).filter((text) => /^[fx]\|/.test(text));
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0);
}

async function counted(cluster: TaskCluster): Promise<number> {
  const count = (await cluster.texts(1000)).find((text) => text.includes('"days"'));
  const days = count === undefined ? {} : (JSON.parse(count) as { days: Record<string, number> }).days;
  return Object.values(days).reduce((sum, bytes) => sum + bytes, 0);
}

describe('the bytes of ended tasks', () => {
  it('are counted by all nodes together, and leave the count with the tasks', async () => {
    const cluster = newCluster();
    const one = worker(cluster);
    worker(cluster, () => ({ done: true }));
    await submit(one, 10, { retention: '10m' });
    await cluster.time.advance(SWEPT);
    expect(await counted(cluster)).toBe(await endedBytes(cluster));
    expect(await counted(cluster)).toBeGreaterThan(600_000);
    await cluster.time.advance(10 * MINUTE + SWEPT);
    expect(await endedBytes(cluster)).toBe(0);
    expect(await counted(cluster)).toBe(0);
  });

  it('are counted rightly when a transaction of the application submits a task anew', async () => {
    const cluster = newCluster();
    const node = worker(cluster);
    const { store } = node.context;
    const offer = (name: string, hint: string) => store.queue(name).offer([hint]);
    store.within = () => ({ ...store.tasks, offer });
    for (let life = 0; life < 5; life++) {
      await node.tasks.submit(name(1), LARGE, { tx: { query: async () => ({ rows: [] }) } });
      await cluster.time.advance(SWEPT);
    }
    expect(await endedBytes(cluster)).toBeGreaterThan(60_000);
    expect(await counted(cluster)).toBe(await endedBytes(cluster));
  });

  it('are not counted without a limit', async () => {
    const cluster = newCluster();
    const node = worker(cluster, () => 1, 0);
    await submit(node, 30);
    await cluster.time.advance(2 * MINUTE);
    expect(await endedBytes(cluster)).toBeGreaterThan(LIMIT);
    expect((await cluster.texts(1000)).filter((text) => text.includes('"days"'))).toEqual([]);
  });

  it('are written when a node closes right after its last task', async () => {
    const cluster = newCluster();
    const node = worker(cluster);
    await submit(node, 3);
    await cluster.time.advance(100);
    const before = await counted(cluster);
    const closing = node.tasks.close();
    await cluster.time.advance(100);
    await closing;
    expect(before).toBe(0);
    expect(await counted(cluster)).toBe(await endedBytes(cluster));
  });

  it('of a crashed node are forgotten with the day on which its tasks leave', async () => {
    const cluster = newCluster();
    const { context } = cluster.node();
    const { retained } = new TaskStore(context, LIMIT);
    const at = String(cluster.time.cluster() + MINUTE).padStart(16, '0');
    // No task: only its count is there.
    retained!.note(undefined, `f|${at}|3f2a|{}`);
    await cluster.time.advance(2000);
    expect(await counted(cluster)).toBeGreaterThan(0);
    expect(await retained!.total()).toBeGreaterThan(0);
    await cluster.time.advance(DAY);
    expect(await retained!.total()).toBe(0);
  });
});

describe('a limit of the bytes of ended tasks', () => {
  it('removes the oldest tasks, but none in the first minute after its end', async () => {
    const cluster = newCluster();
    const node = worker(cluster);
    await submit(node, 30);
    await cluster.time.advance(SWEPT);
    expect(await endedBytes(cluster)).toBeGreaterThan(1_800_000);
    await cluster.time.advance(MINUTE + SWEPT);
    const left = await endedBytes(cluster);
    expect(left).toBeLessThanOrEqual(LIMIT);
    expect(left).toBeGreaterThan(LIMIT - 4 * LARGE.length);
    expect(await counted(cluster)).toBe(left);
    expect(await node.tasks.find(name(0))).toBeUndefined();
    expect(await node.tasks.find(name(29))).toMatchObject({ state: 'completed' });
    const told = node.of('tasks-removed-early');
    expect(told[0]).toMatchObject({ limit: LIMIT });
    expect(told.reduce((count, event) => count + event.count, 0)).toBeLessThanOrEqual(14);
  });

  it('removes dead letters after all completed tasks', async () => {
    const cluster = newCluster();
    const node = worker(cluster, ({ id }) => {
      if (id < name(20).id) throw new InvalidTaskError('simulated');
    });
    const mails = Array.from({ length: 30 }, (_, i) => ({ name: name(i), data: LARGE }));
    await node.tasks.submitMany(mails.slice(20));
    // They end first, so their minute is over when the first dead letter may leave.
    await cluster.time.advance(SWEPT);
    await node.tasks.submitMany(mails.slice(0, 20));
    await cluster.time.advance(MINUTE + 2 * SWEPT);
    const states = await Promise.all(
      Array.from({ length: 30 }, async (_, i) => (await node.tasks.find(name(i)))?.state),
    );
    expect(states.slice(20)).toEqual(Array(10).fill(undefined));
    expect(states.filter((state) => state === 'invalid').length).toBeGreaterThanOrEqual(16);
    expect(await endedBytes(cluster)).toBeLessThanOrEqual(LIMIT);
  });

  it('waits for completed tasks that have just ended before it removes older dead letters', async () => {
    const cluster = newCluster();
    const node = worker(cluster, ({ id }) => {
      if (id < name(14).id) throw new InvalidTaskError('simulated');
    });
    const mails = Array.from({ length: 24 }, (_, i) => ({ name: name(i), data: LARGE }));
    const states = (from: number, to: number) =>
      Promise.all(mails.slice(from, to).map(async (mail) => (await node.tasks.find(mail.name))?.state));
    await node.tasks.submitMany(mails.slice(0, 14));
    await cluster.time.advance(MINUTE + SWEPT);
    // Now all together are too many bytes.
    await node.tasks.submitMany(mails.slice(14));
    await cluster.time.advance(SWEPT);
    expect(await endedBytes(cluster)).toBeGreaterThan(LIMIT);
    expect(await states(0, 14)).toEqual(Array(14).fill('invalid'));
    await cluster.time.advance(MINUTE + SWEPT);
    expect(await states(0, 14)).toEqual(Array(14).fill('invalid'));
    expect((await states(14, 24)).filter((state) => state === undefined)).toHaveLength(7);
    expect(await endedBytes(cluster)).toBeLessThanOrEqual(LIMIT);
  });

  it('keeps the members of a group until its handler has ended', async () => {
    const cluster = newCluster();
    const node = worker(cluster);
    let results = 0;
    node.tasks.handlers.onGroupFinished('mail', async ({ members }: GroupContext) => {
      for await (const { result } of members()) if (result === 1) results++;
    });
    const member = (i: number) => ({ name: grouped('mail', 'all', i + 1, 30), data: LARGE });
    await node.tasks.submitMany(Array.from({ length: 29 }, (_, i) => member(i)));
    await cluster.time.advance(3 * MINUTE);
    expect(await endedBytes(cluster)).toBeGreaterThan(29 * LARGE.length);
    await node.tasks.submitMany([member(29)]);
    await cluster.time.advance(3 * MINUTE);
    expect(results).toBe(30);
    expect(await endedBytes(cluster)).toBeLessThanOrEqual(LIMIT);
  });

  it.each([0, -1, 1.5, 1000, '1GB'])('refuses %p', (maxRetainedBytes) => {
    const options = { tasks: { maxRetainedBytes } } as never;
    expect(() => parseGatekeeperOptions(options)).toThrow('is not a whole number from 1048576 on');
  });

  it('are not all read again and again while none of them can leave', async () => {
    const cluster = newCluster();
    const node = worker(cluster);
    // The group stays open: its handler may read all of them.
    const members = Array.from({ length: 30 }, (_, i) => ({ name: grouped('mail', 'open', i + 1), data: LARGE }));
    await node.tasks.submitMany(members);
    await cluster.time.advance(2 * MINUTE);
    const { tasks } = node.driver;
    const range = tasks.range.bind(tasks);
    let rows = 0;
    tasks.range = async (...of) => {
      const found = await range(...of);
      // The sweep reads one row to see that there is something.
      if (found.length > 1) rows += found.length;
      return found;
    };
    await cluster.time.advance(10 * MINUTE);
    expect(await endedBytes(cluster)).toBeGreaterThan(LIMIT);
    expect(rows).toBeGreaterThan(0);
    expect(rows).toBeLessThanOrEqual(10 * members.length);
  });
});
