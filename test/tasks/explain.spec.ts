import { InvalidTaskError, RetryLaterError, grouped, single } from '../../lib/tasks/index.js';
import { START } from '../support/fake-time.js';
import { openEnd, useCluster } from '../support/nodes.js';
import { NOTICED, defineLimit, limitedWorker } from './limited-nodes.js';
import { LEASE, SWEPT, useTaskCluster, worker } from './task-nodes.js';

const newCluster = useTaskCluster();
const newPermitCluster = useCluster();
const NAME = single('mail', 'order-7');

describe('explain()', () => {
  it('says run-at of an id that ran before, and is submitted again for later', async () => {
    const cluster = newCluster();
    const { tasks } = worker(cluster, () => 1);
    await tasks.submit(NAME);
    await cluster.time.advance(1000);
    await tasks.submit(NAME, undefined, { runAt: '1h' });
    expect(await tasks.explain(NAME)).toMatchObject({ reason: 'run-at' });
  });

  it('says retry-later also after an earlier failure, and retry() leaves the time to the handler', async () => {
    const cluster = newCluster();
    let attempts = 0;
    const { tasks } = worker(cluster, () => {
      throw attempts++ === 0 ? new Error('once') : new RetryLaterError('1h');
    });
    await tasks.submit(NAME, undefined, { backoff: { first: 1, longest: 1 } });
    await cluster.time.advance(SWEPT);
    expect(await tasks.explain(NAME)).toMatchObject({ reason: 'retry-later' });
    expect(await tasks.retry(NAME)).toMatchObject({ outcome: 'refused', because: expect.stringContaining('its time') });
  });

  it('says that no task of the id is known', async () => {
    expect(await newCluster().node().tasks.explain('mail:none')).toEqual({
      id: 'mail:none',
      reason: 'unknown',
      sentence: 'no task of this id is in the store: it was never submitted, or it is no longer remembered',
    });
  });

  it('says until when a task waits that was submitted for later', async () => {
    const { tasks } = newCluster().node();
    await tasks.submit(NAME, undefined, { runAt: '1m' });
    const until = START + 60_000;
    expect(await tasks.explain(NAME)).toMatchObject({
      reason: 'run-at',
      until,
      sentence: `it was submitted to run at ${iso(until)}`,
      task: { state: 'delayed', runAt: until },
    });
  });

  it('says when the next attempt is, and why the last one failed', async () => {
    const cluster = newCluster();
    const { tasks } = worker(cluster, () => {
      throw new Error('no route\u0000 to host');
    });
    await tasks.submit(NAME, undefined, { maxAttempts: 3, backoff: { first: '1h', longest: '1h' } });
    await cluster.time.advance(1000);
    const { until, ...explanation } = (await tasks.explain(NAME)) as { until: number };
    expect(until).toBeGreaterThan(START + 1000 + 1_800_000 - 1000);
    expect(explanation).toMatchObject({
      reason: 'backoff',
      task: { attempts: 1, maxAttempts: 3, lastError: { name: 'Error' } },
      sentence: `attempt 2 of 3 waits until ${iso(until)}; the last one failed: "no route\\u0000 to host"`,
    });
  });

  it('says that the handler asked for another attempt later', async () => {
    const cluster = newCluster();
    const { tasks } = worker(cluster, () => {
      throw new RetryLaterError('1h');
    });
    await tasks.submit(NAME);
    await cluster.time.advance(1000);
    expect(await tasks.explain(NAME)).toMatchObject({ reason: 'retry-later', task: { attempts: 0, state: 'delayed' } });
  });

  it('says since when it waits for a node, and that this node has no handler for its type', async () => {
    const cluster = newCluster();
    const { tasks } = cluster.node();
    await tasks.submit(NAME);
    expect(await tasks.explain(NAME)).toMatchObject({
      reason: 'waiting',
      offeredAt: START,
      sentence: `it waits for a node with room, and was offered last at ${iso(START)}; this node has no handler for type "mail": another node must do it`,
      task: { state: 'waiting' },
    });
    expect(await tasks.explain(NAME)).not.toHaveProperty('here');
  });

  it('says why a node that handles its type does not take it', async () => {
    const cluster = newCluster();
    const busy = openEnd();
    const { tasks } = worker(cluster, busy.work);
    await tasks.submit(NAME);
    await cluster.time.advance(100);
    await tasks.submit(single('mail', 'second'));
    expect(await tasks.explain('mail:second')).toMatchObject({
      here: { concurrency: 1, running: 1 },
      sentence: expect.stringContaining('this node works on 1 of type "mail", and has no more room'),
    });
    tasks.handlers.pauseType('mail');
    expect(await tasks.explain('mail:second')).toMatchObject({
      here: { obstacle: 'paused-here' },
      sentence: expect.stringContaining('type "mail" is switched off on this node'),
    });
    busy.end();
    await cluster.time.advance(100);
  });

  it('says that the limit of its type is paused', async () => {
    const cluster = newPermitCluster();
    const node = await limitedWorker(cluster, () => 1);
    await defineLimit(node);
    await node.gatekeeper.definitions.pause('task:mail', { by: 'ada' });
    await cluster.time.advance(NOTICED);
    await node.gatekeeper.tasks.submit(NAME);
    await cluster.time.advance(NOTICED);
    expect(await node.gatekeeper.tasks.explain(NAME)).toMatchObject({
      reason: 'waiting',
      here: { obstacle: 'paused', running: 0 },
      sentence: expect.stringMatching(/this node takes none of type "mail": .* "task:mail"$/),
    });
  });

  it('says which node works on it, until when, and that it was cancelled', async () => {
    const cluster = newCluster();
    const { work, end } = openEnd();
    const node = worker(cluster, work, false);
    await node.tasks.submit(NAME);
    await cluster.time.advance(100);
    const { instance } = node.context.node;
    const lease = { instance, until: START + LEASE };
    expect(await node.tasks.explain(NAME)).toMatchObject({
      reason: 'running',
      isHere: true,
      ...lease,
      sentence: `this node works on attempt 1 of 5, with a lease until ${iso(lease.until)}`,
      task: { state: 'running', lease },
    });
    const other = cluster.node();
    await other.tasks.cancel(NAME, { by: 'ada' });
    expect(await other.tasks.explain(NAME)).toMatchObject({
      reason: 'cancelling',
      isHere: false,
      ...lease,
      sentence: expect.stringMatching(/^the node of instance ".+; ada cancelled it at .+, so it ends with its handler/),
    });
    end();
  });

  it('says how it ended, why, and until when it is remembered', async () => {
    const cluster = newCluster();
    const node = worker(cluster, () => {
      throw new InvalidTaskError('no such order');
    });
    await node.tasks.submit(NAME);
    await cluster.time.advance(1000);
    const explanation = await node.tasks.explain(NAME);
    const { endedAt, keptUntil } = (await node.tasks.find(NAME))!;
    expect(keptUntil! - endedAt!).toBe(7 * 24 * 3_600_000);
    expect(explanation).toMatchObject({
      reason: 'ended',
      sentence: `its handler found it invalid at ${iso(endedAt!)}; the last error was "no such order"; it is remembered until ${iso(keptUntil!)}`,
      task: { state: 'invalid', endedAt, keptUntil },
    });
    expect(explanation).not.toHaveProperty('groupWaitsFor');
    await node.tasks.submit(single('mail', 'second'), undefined, { runAt: '1h' });
    await node.tasks.cancel('mail:second', { by: 'ada', reason: 'sent by hand' });
    expect((await node.tasks.explain('mail:second')).sentence).toMatch(/^it was cancelled by ada \(sent by hand\) at /);
  });

  it('says for what the group of an ended member waits', async () => {
    const cluster = newCluster();
    const node = worker(cluster, () => 1);
    const waits = async () =>
      (await node.tasks.explain('mail[june]#1')) as { groupWaitsFor?: string; sentence: string };
    await node.tasks.submit(grouped('mail', 'june', 1));
    await cluster.time.advance(1000);
    expect(await waits()).toMatchObject({
      groupWaitsFor: 'total',
      sentence: expect.stringContaining('; its group waits for a submission that gives its total'),
    });
    await node.tasks.submit(grouped('mail', 'june', 2, 3));
    await cluster.time.advance(1000);
    expect(await waits()).toMatchObject({ groupWaitsFor: 'members' });
    await node.tasks.submit(grouped('mail', 'june', 3, 3));
    await cluster.time.advance(1000);
    expect(await waits()).toMatchObject({ groupWaitsFor: 'handler' });
    expect(await node.tasks.explain('mail[june]#join')).toMatchObject({
      reason: 'waiting',
      sentence: expect.stringContaining('groups of type "mail"'),
      task: { type: 'mail', group: { name: 'june' } },
    });
    node.tasks.handlers.onGroupFinished('mail', () => undefined);
    await cluster.time.advance(SWEPT);
    expect(await waits()).not.toHaveProperty('groupWaitsFor');
  });

  it('changes nothing, and its answer is JSON', async () => {
    const node = newCluster().node();
    await node.tasks.submit(grouped('mail', 'june', 1, 2), { to: 'ada' });
    const text = () => node.store.texts.read('mail[june]#1');
    const before = await text();
    const explanation = await node.tasks.explain('mail[june]#1');
    expect(JSON.parse(JSON.stringify(explanation))).toEqual(explanation);
    expect(await text()).toBe(before);
  });
});

it('find() shows a task without the fields of the protocol', async () => {
  const node = newCluster().node();
  await node.tasks.submit(grouped('mail', 'june', 1, 2), { to: 'ada' }, { priority: 'low' });
  expect(await node.tasks.find('mail[june]#1')).toEqual({
    id: 'mail[june]#1',
    type: 'mail',
    state: 'waiting',
    priority: 'low',
    group: { name: 'june', number: 1 },
    data: { to: 'ada' },
    attempts: 0,
    maxAttempts: 5,
    crashes: 0,
    maxCrashes: 3,
    token: 0,
    submittedAt: START,
  });
});

function iso(time: number): string {
  return new Date(time).toISOString();
}
