import { UnknownOutcomeError } from 'nestjs-gatekeeper';
import {
  type GroupContext,
  type GroupHandlerOptions,
  RetryLaterError,
  grouped,
  single,
} from '../../lib/tasks/index.js';
import { openEnd } from '../support/nodes.js';
import { interceptWrites } from '../support/writes.js';
import { LEASE, SWEPT, type TaskCluster, useTaskCluster, worker } from './task-nodes.js';

const newCluster = useTaskCluster();
const NAME = single('mail', 'order-7');
const ONCE = { maxAttempts: 1 };

/** A node whose handler fails until `isMended`; `ran` has the numbers of its attempts. */
function fragile(cluster: TaskCluster) {
  const state = { isMended: false, ran: [] as number[], tokens: [] as number[] };
  const node = worker(cluster, ({ attempt, token, data }) => {
    state.ran.push(attempt);
    state.tokens.push(token);
    if (!state.isMended && data !== 'good') throw new Error('no route to host');
    return `did ${String(data)}`;
  });
  return { node, state };
}

describe('retry()', () => {
  it('lets a dead letter run again, with fresh counts, the same data, and a higher token', async () => {
    const cluster = newCluster();
    const { node, state } = fragile(cluster);
    await node.tasks.submit(NAME, 'data', { maxAttempts: 2, backoff: { first: 1 } });
    await cluster.time.advance(SWEPT);
    expect(await node.tasks.find(NAME)).toMatchObject({ state: 'failed', attempts: 2 });
    const answer = await cluster.node().tasks.retry(NAME);
    expect(answer).toEqual({ id: 'mail:order-7', outcome: 'retried', because: 'it had ended (failed)' });
    await cluster.time.advance(SWEPT);
    expect(state.ran).toEqual([1, 2, 1, 2]);
    expect(state.tokens).toEqual([...new Set(state.tokens)].toSorted((one, other) => one - other));
    state.isMended = true;
    await node.tasks.retry(NAME);
    await cluster.time.advance(100);
    expect(await node.tasks.find(NAME)).toMatchObject({ state: 'completed', attempts: 0, result: 'did data' });
  });

  it('resets the crashes', async () => {
    const cluster = newCluster();
    const node = worker(cluster, () => new Promise(() => undefined), false);
    await node.tasks.submit(NAME, undefined, { maxCrashes: 1 });
    await cluster.time.advance(LEASE + SWEPT);
    expect(await node.tasks.find(NAME)).toMatchObject({ state: 'crashed', crashes: 1 });
    await node.tasks.retry(NAME);
    expect(await node.tasks.find(NAME)).toMatchObject({ state: 'waiting', crashes: 0 });
  });

  it('lets a cancelled task run again', async () => {
    const cluster = newCluster();
    const submitter = cluster.node();
    await submitter.tasks.submit(NAME, 'good');
    await submitter.tasks.cancel(NAME);
    expect(await submitter.tasks.retry(NAME)).toMatchObject({ outcome: 'retried' });
    fragile(cluster);
    await cluster.time.advance(100);
    const task = await submitter.tasks.find(NAME);
    expect(task).toMatchObject({ state: 'completed' });
    expect(task).not.toHaveProperty('cancel');
  });

  it('does not wait for the time of the next attempt', async () => {
    const cluster = newCluster();
    const { node, state } = fragile(cluster);
    await node.tasks.submit(NAME, undefined, { backoff: { first: '1h', longest: '1h' } });
    await cluster.time.advance(100);
    state.isMended = true;
    expect(await node.tasks.retry(NAME)).toMatchObject({ outcome: 'retried' });
    await cluster.time.advance(100);
    expect(state.ran).toEqual([1, 1]);
  });

  it('refuses a task that completed, or has not ended', async () => {
    const cluster = newCluster();
    const { work, end } = openEnd();
    const submitter = cluster.node();
    const refused = async () => (await submitter.tasks.retry(NAME)).because;
    expect(await submitter.tasks.retry(NAME)).toMatchObject({ outcome: 'unknown' });
    await submitter.tasks.submit(NAME, undefined, { runAt: '10s' });
    expect(await refused()).toBe('it has not ended: it waits for its time');
    let isLater = true;
    const node = cluster.node();
    node.tasks.handlers.handle('mail', () => {
      if (!isLater) return work();
      isLater = false;
      throw new RetryLaterError('1m');
    });
    node.tasks.handlers.start();
    await cluster.time.advance(20_000);
    expect(await submitter.tasks.retry(NAME)).toMatchObject({ outcome: 'refused' });
    expect(await submitter.tasks.find(NAME)).toMatchObject({ state: 'delayed' });
    await cluster.time.advance(60_000);
    expect(await refused()).toBe('it has not ended: a node works on it now');
    end();
    await cluster.time.advance(100);
    expect(await submitter.tasks.retry(NAME)).toMatchObject({
      outcome: 'refused',
      because: 'it completed: submit it again to do it again',
    });
  });

  it('of two nodes at the same moment counts once', async () => {
    const cluster = newCluster();
    const { node, state } = fragile(cluster);
    await node.tasks.submit(NAME, undefined, ONCE);
    await cluster.time.advance(100);
    const answers = await Promise.all([node.tasks.retry(NAME), cluster.node().tasks.retry(NAME)]);
    expect(answers.map(({ outcome }) => outcome).toSorted()).toEqual(['refused', 'retried']);
    await cluster.time.advance(SWEPT);
    expect(state.ran).toEqual([1, 1]);
  });

  it.each([
    { of: 'that had failed', options: ONCE },
    { of: 'that waited for its next attempt', options: { backoff: { first: '1h', longest: '1h' } } },
  ])(
    'answers "retried" of a task $of although the answer of its write was lost, and a node has claimed it',
    async ({ options }) => {
      const cluster = newCluster();
      const { node, state } = fragile(cluster);
      await node.tasks.submit(NAME, undefined, options);
      await cluster.time.advance(100);
      const other = cluster.node();
      interceptWrites(other.driver.tasks, 'replace', async (go, { next }) => {
        await go();
        await node.store.claim(next!, LEASE);
        throw new UnknownOutcomeError('no answer');
      });
      const retrying = other.tasks.retry(NAME);
      await cluster.time.advance(1000);
      expect(await retrying).toMatchObject({ outcome: 'retried' });
      expect(state.ran).toEqual([1]);
    },
  );
});

describe('retry() of a member of a group', () => {
  /** A group of three with one failed member, and the counts with which its handler has run. */
  async function ended(cluster: TaskCluster, options?: GroupHandlerOptions) {
    const { node, state } = fragile(cluster);
    const groups: unknown[] = [];
    const faults: string[] = [];
    let isBroken = false;
    node.tasks.handlers.onGroupFinished(
      'mail',
      async (group: GroupContext) => {
        if (isBroken) throw new Error('no disk');
        const results: unknown[] = [];
        for await (const { result, outcome } of group.members()) results.push(result ?? outcome);
        groups.push([group.completed, group.failed, results]);
      },
      options,
    );
    node.tasks.handlers.onInvalid(({ id }, error) => faults.push(`${id}: ${error.message}`));
    const submit = async (data: readonly string[], retention = '1h') => {
      for (const [index, each] of data.entries()) {
        await node.tasks.submit(grouped('mail', 'june', index + 1, data.length), each, { ...ONCE, retention });
      }
      await cluster.time.advance(1000);
    };
    const breakHandler = (to: boolean) => void (isBroken = to);
    return { node, state, groups, faults, submit, breakHandler };
  }

  it('is refused until the group is over, which counts it as failed', async () => {
    const cluster = newCluster();
    const { node } = fragile(cluster);
    await node.tasks.submit(grouped('mail', 'june', 1, 2), 'bad', ONCE);
    await cluster.time.advance(SWEPT);
    expect(await node.tasks.retry('mail[june]#1')).toMatchObject({
      outcome: 'refused',
      because: expect.stringContaining('retry it when the handler of the group has run'),
    });
    expect(await node.tasks.find('mail[june]#1')).toMatchObject({ state: 'failed' });
  });

  it('that waits for its next attempt keeps it in the group, which counts its end', async () => {
    const cluster = newCluster();
    const { node, state } = fragile(cluster);
    const groups: unknown[] = [];
    node.tasks.handlers.onGroupFinished('mail', ({ completed, failed }) => void groups.push([completed, failed]));
    await node.tasks.submit(grouped('mail', 'june', 1, 1), 'bad', { backoff: { first: '1h', longest: '1h' } });
    await cluster.time.advance(1000);
    state.isMended = true;
    expect(await node.tasks.retry('mail[june]#1')).toMatchObject({ outcome: 'retried' });
    await cluster.time.advance(1000);
    expect(groups).toEqual([[1, 0]]);
  });

  it('after that runs it on its own: the handler of the group does not run again', async () => {
    const cluster = newCluster();
    const { node, state, groups, submit } = await ended(cluster);
    await submit(['good', 'bad', 'good']);
    state.isMended = true;
    expect(await node.tasks.retry('mail[june]#2')).toMatchObject({ outcome: 'retried' });
    await cluster.time.advance(2 * SWEPT);
    expect(await node.tasks.find('mail[june]#2')).toMatchObject({ state: 'completed', result: 'did bad' });
    expect(groups).toEqual([[2, 1, ['did good', 'failed', 'did good']]]);
  });

  it('leaves nothing behind, also if its group was forgotten before', async () => {
    const cluster = newCluster();
    const { node, state, submit } = await ended(cluster, { retention: '1m' });
    const { tasks, groups } = node.driver;
    const keys = new Set<string>();
    interceptWrites(groups, 'create', (go, { key }) => (keys.add(key), go()));
    await submit(['good', 'bad'], '1m');
    await cluster.time.advance(5 * 60_000);
    expect(await groups.readMany([...keys])).toEqual(new Map());
    state.isMended = true;
    expect(await node.tasks.retry('mail[june]#2')).toMatchObject({ outcome: 'retried' });
    await cluster.time.advance(5 * 60_000);
    expect(keys.has('root:mail[june]')).toBe(true);
    expect(await groups.readMany([...keys])).toEqual(new Map());
    expect(await tasks.range('', '~', 10)).toEqual([]);
  });

  it('does not keep the group from a new incarnation, which counts it again', async () => {
    const cluster = newCluster();
    const { node, groups, submit } = await ended(cluster);
    await submit(['good', 'bad']);
    await node.tasks.retry('mail[june]#2');
    await cluster.time.advance(1000);
    await submit(['good', 'good']);
    expect(groups).toEqual([
      [1, 1, ['did good', 'failed']],
      [2, 0, ['did good', 'did good']],
    ]);
  });

  it('that still waits makes it a member of the new incarnation', async () => {
    const cluster = newCluster();
    const { node, groups, submit } = await ended(cluster);
    await submit(['good', 'bad']);
    await node.tasks.handlers.close();
    const other = cluster.node();
    await other.tasks.retry('mail[june]#2');
    expect(await other.tasks.submit(grouped('mail', 'june', 2, 2), 'new')).toMatchObject({ outcome: 'known' });
    await other.tasks.submit(grouped('mail', 'june', 1, 2), 'good');
    other.tasks.handlers.handle('mail', ({ data }) => data);
    other.tasks.handlers.onGroupFinished('mail', ({ completed, failed }) => void groups.push([completed, failed]));
    other.tasks.handlers.start();
    await cluster.time.advance(SWEPT);
    expect(groups.slice(1)).toEqual([[2, 0]]);
  });

  it('does not let a handler of the group run again that completed', async () => {
    const cluster = newCluster();
    const { node, groups, submit } = await ended(cluster);
    await submit(['good', 'bad', 'good']);
    expect(await node.tasks.retry('mail[june]#join')).toMatchObject({
      outcome: 'refused',
      because: expect.stringContaining('completed'),
    });
    expect(groups).toHaveLength(1);
  });

  it('lets the handler of the group run again that has failed, for the members as they are now', async () => {
    const cluster = newCluster();
    const { node, state, groups, submit, breakHandler } = await ended(cluster);
    breakHandler(true);
    await submit(['good', 'bad', 'good']);
    await cluster.time.advance(60_000);
    expect(await node.tasks.find('mail[june]#join')).toMatchObject({
      state: 'failed',
      lastError: { message: 'no disk' },
    });
    breakHandler(false);
    state.isMended = true;
    await node.tasks.retry('mail[june]#2');
    expect(await node.tasks.retry('mail[june]#join')).toMatchObject({ outcome: 'retried' });
    await cluster.time.advance(SWEPT);
    expect(groups).toEqual([[3, 0, ['did good', 'did bad', 'did good']]]);
    expect(await node.tasks.find('mail[june]#join')).toMatchObject({ state: 'completed' });
  });

  it('does not run the handler of a group whose members are forgotten, or that was submitted again', async () => {
    const cluster = newCluster();
    const { node, groups, faults, submit, breakHandler } = await ended(cluster);
    breakHandler(true);
    await submit(['good', 'good'], '5m');
    await cluster.time.advance(10 * 60_000);
    expect(await node.tasks.find('mail[june]#1')).toBeUndefined();
    breakHandler(false);
    await node.tasks.retry('mail[june]#join');
    await cluster.time.advance(1000);
    expect(faults).toEqual([expect.stringContaining('mail[june]#1 is no longer remembered: submit the group again')]);
    expect(await node.tasks.find('mail[june]#join')).toMatchObject({ state: 'invalid' });
    await node.tasks.submit(grouped('mail', 'june', 1, 2), 'good');
    expect(await node.tasks.retry('mail[june]#join')).toMatchObject({
      outcome: 'refused',
      because: 'its group is not remembered, or was submitted again: submit the members again',
    });
    expect(groups).toEqual([]);
  });
});
