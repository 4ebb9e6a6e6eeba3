import { openEnd, useCluster } from '../support/nodes.js';
import {
  DURATION,
  LIMIT,
  NOTICED,
  defineLimit,
  hintsAskedBy,
  limitedWorker,
  obstacleOf,
  permitsOf,
  submitMails,
} from './limited-nodes.js';

const newCluster = useCluster();

describe('pauseType()', () => {
  it('ends the work of this node on a type, until resumeType()', async () => {
    const cluster = newCluster();
    const by: string[] = [];
    const first = await limitedWorker(cluster, () => void by.push('first'));
    const second = await limitedWorker(cluster, () => void by.push('second'));
    first.gatekeeper.tasks.handlers.pauseType('mail');
    await submitMails(first, 5);
    await cluster.time.advance(NOTICED);
    expect(by).toEqual(Array(5).fill('second'));
    expect([first, second].map(obstacleOf)).toEqual(['paused-here', undefined]);
    first.gatekeeper.tasks.handlers.resumeType('mail');
    second.gatekeeper.tasks.handlers.pauseType('mail');
    await submitMails(first, 5);
    await cluster.time.advance(NOTICED);
    expect(by.slice(5)).toEqual(Array(5).fill('first'));
  });

  it('asks the store for no hint', async () => {
    const cluster = newCluster();
    const node = await limitedWorker(cluster, () => 1);
    node.gatekeeper.tasks.handlers.pauseType('mail');
    await cluster.time.advance(NOTICED);
    const asked = hintsAskedBy(node);
    await cluster.time.advance(60_000);
    expect(asked()).toBe(0);
  });

  it('lets running attempts go on, and gives the permits back', async () => {
    const cluster = newCluster();
    const { work, end } = openEnd();
    const node = await limitedWorker(cluster, work);
    await defineLimit(node, { permits: 4 });
    await submitMails(node, 2);
    await cluster.time.advance(1000);
    node.gatekeeper.tasks.handlers.pauseType('mail');
    expect(node.gatekeeper.tasks.handlers.types()).toEqual([
      { type: 'mail', handles: 'tasks', concurrency: 4, running: 2, obstacle: 'paused-here' },
    ]);
    end();
    await cluster.time.advance(1000);
    expect(node.gatekeeper.tasks.handlers.types()).toMatchObject([{ running: 0 }]);
    expect(await permitsOf(cluster)).toEqual([]);
  });

  it('refuses a type that this node does not handle', async () => {
    const { tasks } = (await newCluster().node()).gatekeeper;
    expect(() => tasks.handlers.pauseType('mail')).toThrow('this node has no handler for it');
  });
});

describe('pauseType() of the type of a schedule', () => {
  it("leaves the cluster's pause in force: no tick is submitted, and none is made up for", async () => {
    const cluster = newCluster();
    const { gatekeeper } = await cluster.node({ definitions: [] });
    const { tasks, definitions } = gatekeeper;
    const runs: number[] = [];
    tasks.schedules.add('job', '*/10 * * * *', () => void runs.push(cluster.time.cluster()));
    tasks.start();
    await definitions.define({ name: 'task:cron.job', duration: DURATION });
    await definitions.pause('task:cron.job');
    tasks.handlers.pauseType('cron.job');
    await cluster.time.advance(10 * 60_000);
    tasks.handlers.resumeType('cron.job');
    await definitions.resume('task:cron.job');
    await cluster.time.advance(NOTICED);
    expect(runs).toEqual([]);
    await cluster.time.advance(7 * 60_000);
    expect(runs).toHaveLength(1);
  });
});

describe('types()', () => {
  it('says that an operator paused a type that has no tasks', async () => {
    const cluster = newCluster();
    const node = await limitedWorker(cluster, () => 1);
    await defineLimit(node);
    expect(obstacleOf(node)).toBeUndefined();
    await node.gatekeeper.definitions.pause(LIMIT);
    expect(obstacleOf(node)).toBe('paused');
  });

  it('says that no permit is free', async () => {
    const cluster = newCluster();
    const { work, end } = openEnd();
    const nodes = [
      await limitedWorker(cluster, work, { concurrency: 1 }),
      await limitedWorker(cluster, work, { concurrency: 1 }),
    ];
    await defineLimit(nodes[0]!);
    await submitMails(nodes[0]!, 2);
    await cluster.time.advance(NOTICED);
    const states = nodes.map(({ gatekeeper }) => gatekeeper.tasks.handlers.types()[0]!);
    expect(states.map(({ running }) => running).toSorted()).toEqual([0, 1]);
    expect(states.find(({ running }) => running === 0)?.obstacle).toBe('no-permit');
    end();
  });
});
