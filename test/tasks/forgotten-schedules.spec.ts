import { StoreUnavailableError } from 'nestjs-gatekeeper';
import { FIRST, MINUTE, ScheduledJob, SOON } from './schedule-nodes.js';
import { type TaskCluster, type TaskNode, useTaskCluster } from './task-nodes.js';

const newCluster = useTaskCluster();
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DAILY = '14 22 * * *';

/** A node that handles other tasks, and sweeps. */
function sweeper(cluster: TaskCluster): TaskNode {
  const node = cluster.node();
  node.tasks.handlers.handle('mail', () => undefined);
  node.tasks.start();
  return node;
}

/** All processes stand still most of the time: the sweep takes a turn each second. */
async function pass(cluster: TaskCluster, ms: number): Promise<void> {
  const step = Math.min(ms, DAY);
  for (let left = ms; left > 0; left -= step) {
    cluster.time.freeze(step - MINUTE);
    await cluster.time.advance(MINUTE);
  }
}

const isThere = async (cluster: TaskCluster) => (await cluster.texts(1000)).some((text) => text.startsWith('p|job|'));

/** The node reaches no record, and others do not see it. @returns a function that ends that */
function isolate(cluster: TaskCluster, node: TaskNode): () => void {
  const { store } = node.context;
  const show = cluster.hide(node);
  let isIsolated = true;
  const cut = (object: object, methods: readonly string[]) => {
    for (const method of methods) {
      const call = (object as Record<string, (...args: unknown[]) => Promise<unknown>>)[method]!.bind(object);
      const perhaps = (...args: unknown[]) =>
        isIsolated ? Promise.reject(new StoreUnavailableError('simulated')) : call(...args);
      Object.assign(object, { [method]: perhaps });
    }
  };
  cut(store.tasks, ['read', 'compareAndSet', 'range']);
  // Otherwise it would keep the turn to sweep.
  cut(store.records, ['read', 'compareAndSet']);
  node.tasks.handlers.pauseType('cron.job');
  return () => {
    isIsolated = false;
    show();
    node.tasks.handlers.resumeType('cron.job');
  };
}

/** A schedule whose only node has run its first tick, and is gone. */
async function abandoned(cluster: TaskCluster, job: ScheduledJob): Promise<void> {
  const node = job.node();
  await cluster.time.advance(FIRST - cluster.time.cluster() + SOON);
  const closing = node.tasks.close();
  await cluster.time.advance(SOON);
  await closing;
  cluster.die(node);
}

describe('the record of a schedule that no node has any more', () => {
  it('is removed a week after the first tick about which no node has decided', async () => {
    const cluster = newCluster();
    sweeper(cluster);
    await abandoned(cluster, new ScheduledJob(cluster, DAILY));
    await pass(cluster, 8 * DAY);
    expect(await isThere(cluster)).toBe(true);
    for (let hours = 0; hours < 4; hours++) await pass(cluster, HOUR);
    expect(await isThere(cluster)).toBe(false);
  });

  it('is made anew by a node that comes back, which runs the ticks from then on', async () => {
    const cluster = newCluster();
    sweeper(cluster);
    const job = new ScheduledJob(cluster, DAILY);
    await abandoned(cluster, job);
    await pass(cluster, 10 * DAY);
    job.node({ missed: 'all' });
    await pass(cluster, 2 * DAY);
    expect(job.minutes.map((minute) => minute / (24 * 60))).toEqual([0, 11, 12]);
  });

  it('stays for an hour after the start of the node that sweeps, so that a node with the schedule finds it', async () => {
    const cluster = newCluster();
    const job = new ScheduledJob(cluster, DAILY);
    await abandoned(cluster, job);
    await pass(cluster, 20 * DAY);
    sweeper(cluster);
    await cluster.time.advance(HOUR / 2);
    job.node({ missed: 'all' });
    await pass(cluster, DAY);
    expect(job.minutes.map((minute) => minute / (24 * 60))).toEqual(Array.from({ length: 22 }, (_, day) => day));
  });

  it('stays while the type is paused and a living node has it', async () => {
    const cluster = newCluster();
    sweeper(cluster);
    const job = new ScheduledJob(cluster, DAILY);
    await abandoned(cluster, job);
    const node = cluster.node();
    // It handles the type, and does not look at the record, as in a pause.
    node.tasks.handlers.handle('cron.job', () => undefined);
    await pass(cluster, 10 * DAY);
    expect(await isThere(cluster)).toBe(true);
  });
});

describe('a node that knows a schedule from before a long freeze', () => {
  it('submits no tick again that other nodes submitted before the record was removed', async () => {
    const cluster = newCluster();
    sweeper(cluster);
    const job = new ScheduledJob(cluster, DAILY);
    const frozen = job.node({ missed: 'all' });
    await cluster.time.advance(FIRST - cluster.time.cluster() + SOON);
    const thaw = isolate(cluster, frozen);
    const other = job.node({ missed: 'all' });
    await pass(cluster, 2 * DAY);
    const closing = other.tasks.close();
    await cluster.time.advance(SOON);
    await closing;
    cluster.die(other);
    await pass(cluster, 10 * DAY);
    expect(await isThere(cluster)).toBe(false);
    thaw();
    await pass(cluster, DAY);
    expect(await isThere(cluster)).toBe(true);
    const days = job.minutes.map((minute) => minute / (24 * 60));
    expect(days.slice(0, 3)).toEqual([0, 1, 2]);
    expect(new Set(days).size).toBe(days.length);
  });
});
