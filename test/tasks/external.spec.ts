import { grouped, single } from '../../lib/tasks/index.js';
import { useCluster } from '../support/nodes.js';
import { interceptWrites } from '../support/writes.js';
import { LEASE, attemptAt, claimOne, claimed, external, watched } from './external-workers.js';
import { submitMails } from './limited-nodes.js';

const newCluster = useCluster();
/** ms: longer than the sweep and its turn need. */
const SWEPT = 5000;

describe('a worker that is no node', () => {
  it('claims a task with its data on one node, and completes it on another one', async () => {
    const cluster = newCluster();
    const [a, b] = [await cluster.node(), await cluster.node()];
    await a.gatekeeper.tasks.submit(single('mail', 'one'), { to: 'ada' });
    const { task, remaining } = await claimOne(a);
    expect([task.id, task.data, remaining <= LEASE, remaining > LEASE / 2]).toEqual([
      'mail:one',
      { to: 'ada' },
      true,
      true,
    ]);
    expect(await b.gatekeeper.tasks.find('mail:one')).toMatchObject({
      state: 'running',
      lease: { instance: 'http:paul' },
    });
    await external(b).complete(attemptAt(task), { sent: true });
    expect(await a.gatekeeper.tasks.find('mail:one')).toMatchObject({ state: 'completed', result: { sent: true } });
  });

  it('gets no task that another worker has, and as many as it wants', async () => {
    const cluster = newCluster();
    const node = await cluster.node();
    await submitMails(node, 5);
    expect(await claimed(node, { most: 2 })).toHaveLength(2);
    expect(await claimed(node, { most: 20 })).toHaveLength(3);
    expect(await claimed(node, { most: 20 })).toHaveLength(0);
  });

  it('are given up to about 1 MiB at once, and at least one', async () => {
    const cluster = newCluster();
    const node = await cluster.node();
    for (let number = 1; number <= 20; number++)
      await node.gatekeeper.tasks.submit(single('mail', `${number}`), 'x'.repeat(64_000));
    const sizes = [];
    for (let count = -1; count !== 0; sizes.push(count)) count = (await claimed(node, { most: 20 })).length;
    expect(sizes).toEqual([17, 3, 0]);
  });

  it('keeps its task as long as it renews it, and loses it to another worker after its lease', async () => {
    const cluster = newCluster();
    const node = await cluster.node();
    await submitMails(node, 1);
    const { task } = await claimOne(node);
    for (let renewal = 0; renewal < 4; renewal++) {
      await cluster.time.advance(LEASE / 2);
      expect(await external(node).renew(attemptAt(task), LEASE)).toEqual({ remaining: expect.any(Number) });
    }
    expect(await claimed(node)).toEqual([]);
    await cluster.time.advance(LEASE + SWEPT);
    const next = await claimOne(node);
    expect(next.task).toMatchObject({ id: task.id, crashes: 1 });
    expect(next.task.token).toBeGreaterThan(task.token);
    for (const call of [
      external(node).renew(attemptAt(task), LEASE),
      external(node).complete(attemptAt(task), 1),
      external(node).fail(attemptAt(task), { message: 'late' }, false),
      external(node).retryLater(attemptAt(task), 10),
      external(node).giveBack(attemptAt(task)),
    ]) {
      await expect(call).rejects.toMatchObject({ code: 'lease-expired' });
    }
    await external(node).complete(attemptAt(next.task), 2);
    expect(await node.gatekeeper.tasks.find(task.id)).toMatchObject({ state: 'completed', result: 2 });
  });

  it('can not end the task of another one, even with its token', async () => {
    const cluster = newCluster();
    const node = await cluster.node();
    await submitMails(node, 1);
    const { task } = await claimOne(node);
    const attempt = { ...attemptAt(task), instance: 'http:mary' };
    await expect(external(node).complete(attempt, 1)).rejects.toMatchObject({ code: 'lease-expired' });
    expect(await node.gatekeeper.tasks.find(task.id)).toHaveProperty('state', 'running');
  });

  it('may repeat each call whose answer was lost', async () => {
    const cluster = newCluster();
    const node = await cluster.node();
    await submitMails(node, 5);
    const [done, failed, invalid, later, back] = (await claimed(node, { most: 5 })).map(({ task }) => attemptAt(task));
    const tasks = external(node);
    for (let time = 0; time < 2; time++) {
      expect(await tasks.complete(done!, 1)).toMatchObject({ ending: { outcome: 'completed', result: 1 } });
      expect(await tasks.fail(failed!, { message: 'no' }, false)).toMatchObject({ state: 'delayed', attempts: 1 });
      expect(await tasks.fail(invalid!, { message: 'no' }, true)).toMatchObject({ ending: { outcome: 'invalid' } });
      expect(await tasks.retryLater(later!, 60_000)).toMatchObject({ state: 'delayed', attempts: 0 });
      expect(await tasks.giveBack(back!)).toMatchObject({ state: 'waiting', crashes: 0 });
    }
    // Another end than the first one is none of the same call.
    await expect(tasks.fail(done!, { message: 'no' }, false)).rejects.toMatchObject({ code: 'lease-expired' });
    await expect(tasks.complete(failed!, 1)).rejects.toMatchObject({ code: 'lease-expired' });
  });

  it('may repeat a call after the next life of its task has begun', async () => {
    const cluster = newCluster();
    const node = await cluster.node();
    const { tasks } = node.gatekeeper;
    const again = { unique: { during: 'waiting' } } as const;
    for (const end of ['complete', 'fail'] as const) {
      await tasks.submit(single('mail', end), 1);
      const attempt = attemptAt((await claimOne(node)).task);
      expect(await tasks.submit(single('mail', end), 2, again)).toMatchObject({ outcome: 'created' });
      const call = () =>
        end === 'complete'
          ? external(node).complete(attempt, 'done')
          : external(node).fail(attempt, { message: 'no' }, true);
      await call();
      expect(await tasks.find(`mail:${end}`)).toMatchObject({ state: 'waiting', data: 2 });
      expect(await call()).toMatchObject({ state: 'waiting', data: 2 });
      // The former life ended in another way.
      const other =
        end === 'complete'
          ? external(node).fail(attempt, { message: 'no' }, true)
          : external(node).complete(attempt, 1);
      await expect(other).rejects.toMatchObject({ code: 'lease-expired' });
      await external(node).complete(attemptAt((await claimOne(node)).task), 'again');
    }
  });

  it('notes its error, and the task runs again', async () => {
    const cluster = newCluster();
    const node = await cluster.node();
    await submitMails(node, 1);
    const { task } = await claimOne(node);
    await external(node).fail(attemptAt(task), { name: 'IOError', message: 'x'.repeat(3000) }, false);
    const { lastError } = (await node.gatekeeper.tasks.find(task.id))!;
    expect(lastError).toMatchObject({ name: 'IOError', message: 'x'.repeat(2000) });
    expect(lastError).not.toHaveProperty('stack');
    await cluster.time.advance(SWEPT);
    expect((await claimOne(node)).task).toMatchObject({ attempts: 1 });
  });

  it('learns that its task was cancelled, and its result is refused', async () => {
    const cluster = newCluster();
    const node = await cluster.node();
    await submitMails(node, 2);
    const [one, other] = await claimed(node, { most: 2 });
    const cancelled = { code: 'task-cancelled', by: 'ada', reason: 'wrong address' };
    for (const { task } of [one!, other!]) {
      await node.gatekeeper.tasks.cancel(task.id, { by: 'ada', reason: 'wrong address' });
    }
    await expect(external(node).renew(attemptAt(one!.task), LEASE)).rejects.toMatchObject(cancelled);
    for (let time = 0; time < 2; time++) {
      await expect(external(node).complete(attemptAt(one!.task), 1)).rejects.toMatchObject(cancelled);
      expect(await external(node).giveBack(attemptAt(other!.task))).toMatchObject({
        ending: { outcome: 'cancelled' },
      });
    }
    expect(await node.gatekeeper.tasks.find(one!.task.id)).not.toHaveProperty('result');
  });

  it('gets no member of a group that is stopped, if the member asks for it', async () => {
    const cluster = newCluster();
    const node = await cluster.node();
    const { tasks } = node.gatekeeper;
    const members = [1, 2].map((number) => ({
      name: grouped('mail', 'june', number, 2),
      options: { failGroupFast: true },
    }));
    await tasks.submitMany(members);
    const { task } = await claimOne(node);
    // The walk over the members comes too late.
    const { tasks: texts } = node.store;
    const readMany = texts.readMany.bind(texts);
    texts.readMany = async () => new Map<string, string>();
    await external(node).fail(attemptAt(task), { message: 'no' }, true);
    expect(await claimed(node)).toEqual([]);
    texts.readMany = readMany;
    const states = await Promise.all(members.map(async ({ name }) => (await tasks.find(name))!.state));
    expect(states.toSorted()).toEqual(['cancelled', 'invalid']);
  });

  it.each([
    ['a lease that is too short', { lease: 100 }, 'invalid-options'],
    ['more types than one node serves', { types: Array.from({ length: 1001 }, (_, n) => `t${n}`) }, 'too-many-types'],
  ])('is refused %s', async (_, request, code) => {
    const node = await newCluster().node();
    await expect(claimed(node, request)).rejects.toMatchObject({ code });
  });

  it('keeps a task whose result can not be kept', async () => {
    const node = await newCluster().node();
    await submitMails(node, 1);
    const { task } = await claimOne(node);
    const result = 'x'.repeat(65_536);
    await expect(external(node).complete(attemptAt(task), result)).rejects.toMatchObject({ code: 'invalid-options' });
    expect(await node.gatekeeper.tasks.find(task.id)).toHaveProperty('state', 'running');
  });
});

describe('a claim that waits', () => {
  it('gets a task as soon as one is submitted, of any of its types', async () => {
    const cluster = newCluster();
    const [a, b] = [await cluster.node(), await cluster.node()];
    const waiting = watched(claimed(a, { types: ['mail', 'letter'], wait: 30_000 }));
    await cluster.time.advance(1000);
    expect(waiting.isOver).toBe(false);
    await b.gatekeeper.tasks.submit(single('letter', 'one'));
    await cluster.time.advance(10);
    expect((await waiting.promise).map(({ task }) => task.id)).toEqual(['letter:one']);
  });

  it('gets a task of each of its types, however many types other claims wait for', async () => {
    const cluster = newCluster();
    const node = await cluster.node();
    const others = Array.from({ length: 100 }, (_, number) => `other${number}`);
    const far = new AbortController();
    const waitsForOthers = watched(claimed(node, { types: others, wait: 30_000, signal: far.signal }));
    await cluster.time.advance(100);
    const waiting = watched(claimed(node, { types: ['mail', 'letter'], wait: 5000 }));
    await cluster.time.advance(100);
    await submitMails(node, 1);
    await cluster.time.advance(100);
    expect(waiting.isOver).toBe(true);
    expect((await waiting.promise).map(({ task }) => task.id)).toEqual(['mail:0']);
    far.abort(new Error('gone'));
    await expect(waitsForOthers.promise).rejects.toThrow('gone');
  });

  it('gets none after its time, and then takes no hint from others', async () => {
    const cluster = newCluster();
    const node = await cluster.node();
    const waiting = watched(claimed(node, { wait: 2000 }));
    await cluster.time.advance(2010);
    expect(await waiting.promise).toEqual([]);
    await submitMails(node, 1);
    await cluster.time.advance(10);
    expect(await claimed(node)).toHaveLength(1);
  });

  it('shares tasks with others that wait: each goes to one of them', async () => {
    const cluster = newCluster();
    const node = await cluster.node();
    const waiting = [1, 2, 3].map(() => watched(claimed(node, { wait: 30_000 })));
    await cluster.time.advance(100);
    await submitMails(node, 3);
    await cluster.time.advance(100);
    const ids = (await Promise.all(waiting.map(({ promise }) => promise))).flat().map(({ task }) => task.id);
    expect(ids.toSorted()).toEqual(['mail:0', 'mail:1', 'mail:2']);
  });

  it('leaves nothing claimed when its worker goes away', async () => {
    const cluster = newCluster();
    const node = await cluster.node();
    const gone = new AbortController();
    const waiting = watched(claimed(node, { wait: 30_000, signal: gone.signal }));
    await cluster.time.advance(100);
    gone.abort(new Error('gone'));
    await expect(waiting.promise).rejects.toThrow('gone');
    await submitMails(node, 1);
    await cluster.time.advance(6000);
    expect(await claimed(node)).toHaveLength(1);
  });

  it('gives the tasks back that were claimed while its worker went away', async () => {
    const cluster = newCluster();
    const node = await cluster.node();
    await submitMails(node, 1);
    const gone = new AbortController();
    interceptWrites(node.store.tasks, 'replace', (go) => (gone.abort(new Error('gone')), go()));
    await expect(claimed(node, { signal: gone.signal })).rejects.toThrow('gone');
    expect(await node.gatekeeper.tasks.find('mail:0')).toMatchObject({ state: 'waiting', crashes: 0 });
  });

  it('ends without a task when its node shuts down, and none begins there', async () => {
    const cluster = newCluster();
    const node = await cluster.node();
    const waiting = watched(claimed(node, { wait: 60_000 }));
    await cluster.time.advance(100);
    const closing = node.gatekeeper.close();
    await cluster.time.advance(6000);
    expect(await waiting.promise).toEqual([]);
    await closing;
    await expect(claimed(node)).rejects.toMatchObject({ code: 'closing' });
  });
});
