import { RunRequestedError, StoreUnavailableError, currentPermit } from 'nestjs-gatekeeper';
import { UnknownRunError } from '../../../lib/gatekeeper/index.js';
import { START, settled } from '../../support/fake-time.js';
import { openEnd, outcomeOf, useCluster } from '../../support/nodes.js';
import { ANN, EXPORT, nodeWithJob, runNowOf, serve } from '../../core/permits/by-hand/runners.js';

const KEY = 'run-request:job';

describe('run now', () => {
  const cluster = useCluster();

  it('runs the job on the node that has it, under a permit, and says what became of it', async () => {
    const nodes = cluster();
    const tokens: number[] = [];
    const runner = await nodeWithJob(nodes, { work: () => void tokens.push(currentPermit().token) });
    const asker = await nodes.node({ heartbeat: 1000 });
    const status = await runNowOf(asker).run('job', ANN);
    expect(tokens).toHaveLength(1);
    expect(status).toMatchObject({
      semaphore: 'job',
      job: EXPORT,
      by: 'ann',
      reason: ANN.reason,
      state: 'ended',
      outcome: 'ok',
      took: 0,
      token: tokens[0],
      node: { acquirer: 'app1' },
      sentence: '"Jobs.export" ended well on app1 after 0 ms',
    });
    expect(runner.of('run-finished')).toEqual([expect.objectContaining({ job: EXPORT, by: 'ann' })]);
  });

  it('is in the audit log and, with its author, in the history', async () => {
    const nodes = cluster();
    const runner = await nodeWithJob(nodes);
    const { gatekeeper } = await nodes.node({ heartbeat: 1000, history: true });
    serve({ ...runner, gatekeeper }, {});
    await gatekeeper.definitions.edit('job', { acquirerPattern: 'app2' }, ANN);
    await nodes.time.advance(1100);
    await runNowOf(runner).run('job', ANN);
    await gatekeeper.run('job', () => 1, { job: EXPORT });
    await nodes.time.advance(2000);
    const [, asked] = await gatekeeper.audit.read(5);
    expect(asked).toMatchObject({ action: 'run-now', semaphore: 'job', job: EXPORT, ...ANN });
    const [byHand, scheduled] = await gatekeeper.history(5);
    expect(byHand).toMatchObject({ job: EXPORT, by: 'ann', outcome: 'ok' });
    expect(scheduled).not.toHaveProperty('by');
  });

  it('tells the error of a failed run, and its node does not report it as a problem', async () => {
    const nodes = cluster();
    const runner = await nodeWithJob(nodes, { work: () => Promise.reject(new Error('disk full')) });
    const asker = await nodes.node({ heartbeat: 1000 });
    const status = await runNowOf(asker).run('job', ANN);
    expect(status).toMatchObject({ state: 'ended', outcome: 'failed', message: 'disk full' });
    expect(runner.of('problem')).toEqual([]);
  });

  it.each([2, 5])('runs once when %i nodes have the job', async (count) => {
    const nodes = cluster();
    let runs = 0;
    const all = [];
    for (let each = 0; each < count; each++) all.push(await nodeWithJob(nodes, { work: () => runs++, atLeastFor: 0 }));
    const status = await runNowOf(all[0]!).run('job', ANN);
    await nodes.time.advance(120_000);
    expect(runs).toBe(1);
    expect(status.state).toBe('ended');
    expect(all.flatMap(({ of }) => of('run-started'))).toHaveLength(1);
    // The others wanted it as well. That is no skipped run.
    expect(all.flatMap(({ of }) => of('run-skipped'))).toEqual([]);
  });

  it('runs once when nodes take it at the same moment, also when several permits are free', async () => {
    const nodes = cluster();
    let runs = 0;
    const one = await nodeWithJob(nodes, { work: () => runs++ });
    const other = await nodeWithJob(nodes, { work: () => runs++ });
    await one.gatekeeper.definitions.edit('job', { permits: 2 }, ANN);
    const [first, second] = [openEnd(), openEnd()];
    // Both have a permit before either of them claims the request.
    for (const [{ store }, gate] of [
      [one, first],
      [other, second],
    ] as const) {
      store.script = async (call, go, key) => {
        if (call === 'compareAndSet' && key === KEY && runs === 0) await gate.work();
        return go();
      };
    }
    const asker = await nodes.node({ heartbeat: 1000 });
    const asking = runNowOf(asker).run('job', ANN);
    await settled();
    await Promise.all([first.started, second.started]);
    first.end();
    second.end();
    expect(await asking).toMatchObject({ state: 'ended', outcome: 'ok' });
    await nodes.time.advance(60_000);
    expect(runs).toBe(1);
  });

  it('never runs beside a scheduled run, and begins when that one releases its permit', async () => {
    const nodes = cluster();
    const runner = await nodeWithJob(nodes, { atLeastFor: 0 });
    const other = await nodes.node({ heartbeat: 1000 });
    const { work, end } = openEnd();
    const scheduled = other.gatekeeper.run('job', work, { atLeastFor: 0, job: 'other' });
    await settled();
    const asking = runNowOf(other).run('job', ANN);
    await nodes.time.advance(30_000);
    expect(await outcomeOf(asking)).toBe('pending');
    expect(runner.of('run-started')).toEqual([]);
    end();
    await scheduled;
    await nodes.time.advance(0);
    expect(await asking).toMatchObject({ state: 'ended', outcome: 'ok' });
  });

  it('says after a minute who holds the permit, and then never runs', async () => {
    const nodes = cluster();
    const runner = await nodeWithJob(nodes);
    const other = await nodes.node({ heartbeat: 1000 });
    const permit = (await other.gatekeeper.tryAcquire('job', { keepAlive: true }))!;
    const asking = runNowOf(other).run('job', ANN);
    await nodes.time.advance(61_000);
    const status = await asking;
    expect(status.state).toBe('not-taken');
    expect(status.sentence).toMatch(/^no node took "Jobs.export" within a minute: its permits are held: app2 \(until /);
    await permit.release();
    await nodes.time.advance(10_000);
    expect(runner.of('run-started')).toEqual([]);
  });

  it('uses the permit that the node kept after its last run', async () => {
    const nodes = cluster();
    const runner = await nodeWithJob(nodes);
    await nodeWithJob(nodes);
    await runner.gatekeeper.run('job', () => 1, { job: EXPORT });
    expect(await runNowOf(runner).run('job', ANN)).toMatchObject({ state: 'ended', node: { acquirer: 'app1' } });
  });

  it('keeps the permit after the run as the options of the job say', async () => {
    const nodes = cluster();
    const runner = await nodeWithJob(nodes);
    const other = await nodes.node();
    await runNowOf(runner).run('job', ANN);
    expect(await other.gatekeeper.run('job', () => 2)).toEqual({ executed: false, reason: 'no-permit' });
  });

  it('answers at once with timeout 0, and follow() waits for the end', async () => {
    const nodes = cluster();
    const { work, end } = openEnd();
    await nodeWithJob(nodes, { work });
    const asker = await nodes.node({ heartbeat: 1000 });
    const asked = await runNowOf(asker).run('job', { ...ANN, timeout: 0 });
    expect(['asked', 'running']).toContain(asked.state);
    const following = runNowOf(asker).follow('job', asked.id, { timeout: 5000 });
    await nodes.time.advance(5000);
    expect(await following).toMatchObject({ state: 'running', node: { acquirer: 'app1' } });
    end();
    await settled();
    expect(await runNowOf(asker).follow('job', asked.id)).toMatchObject({ state: 'ended', outcome: 'ok' });
    await expect(runNowOf(asker).follow('job', 'other')).rejects.toBeInstanceOf(UnknownRunError);
  });

  it.each(['follow', 'plan'] as const)('has ended in %s though it ends between the two reads', async (call) => {
    const nodes = cluster();
    const { work, end } = openEnd();
    await nodeWithJob(nodes, { work, atLeastFor: 0 });
    const asker = await nodes.node({ heartbeat: 1000 });
    const { id } = await runNowOf(asker).run('job', { ...ANN, timeout: 0 });
    await settled();
    asker.store.script = async (_call, go, key) => {
      if (key !== 'semaphore:job') return go();
      asker.store.script = undefined;
      end();
      await settled();
      expect((await nodes.record()).permits).toEqual([]);
      return go();
    };
    const states = {
      follow: async () => (await runNowOf(asker).follow('job', id, { timeout: 0 })).state,
      plan: async () => (await runNowOf(asker).plan('job')).requests[0]!.state,
    };
    expect(await states[call]()).toBe('ended');
    expect(asker.store.script).toBeUndefined();
  });

  it('says when the node that took it is gone, and does not run it again', async () => {
    const nodes = cluster();
    let runs = 0;
    const work = () => (runs++, new Promise(() => undefined));
    const runner = await nodeWithJob(nodes, { work });
    await nodes.time.advance(0);
    const asker = await nodes.node({ heartbeat: 1000 });
    const asking = runNowOf(asker).run('job', ANN);
    await nodes.time.advance(100);
    expect(runs).toBe(1);
    runner.store.script = () => Promise.reject(new StoreUnavailableError('cut off'));
    await nodes.time.advance(15_000);
    const status = await asking;
    expect(status.state).toBe('unclear');
    expect(status.sentence).toContain('its permit is over without an end');
    await nodes.time.advance(120_000);
    expect(runs).toBe(1);
  });

  it('is lost rather than run twice when the store loses what became of it', async () => {
    const nodes = cluster();
    let runs = 0;
    await nodeWithJob(nodes, { work: () => (runs++, new Promise(() => undefined)) });
    await nodeWithJob(nodes, { work: () => runs++ });
    const asker = await nodes.node({ heartbeat: 1000 });
    const { id } = await runNowOf(asker).run('job', { ...ANN, timeout: 0 });
    const before = await nodes.raw.records.read(KEY);
    await nodes.time.advance(1000);
    expect(runs).toBe(1);
    expect(before).toBeDefined();
    nodes.lose(KEY);
    await expect(runNowOf(asker).follow('job', id)).rejects.toBeInstanceOf(UnknownRunError);
    await nodes.time.advance(120_000);
    expect(runs).toBe(1);
  });

  it('refuses a second request before the first is taken, and allows one after its end', async () => {
    const nodes = cluster();
    const runner = await nodeWithJob(nodes);
    const holder = await nodes.node({ heartbeat: 1000 });
    const permit = (await holder.gatekeeper.tryAcquire('job'))!;
    const first = runNowOf(holder).run('job', ANN);
    await settled();
    await expect(runNowOf(runner).run('job', { by: 'bob' })).rejects.toThrow(RunRequestedError);
    await permit.release();
    await nodes.time.advance(0);
    await first;
    expect(await runNowOf(runner).run('job', { by: 'bob' })).toMatchObject({ by: 'bob', state: 'ended' });
  });

  it('keeps ten requests', async () => {
    const nodes = cluster();
    const node = await nodeWithJob(nodes, { atLeastFor: 0 });
    for (let each = 0; each < 12; each++) await runNowOf(node).run('job', { by: `user ${each}` });
    const { requests } = await runNowOf(node).plan('job');
    expect(requests.map(({ by }) => by)).toEqual(Array.from({ length: 10 }, (_, each) => `user ${11 - each}`));
  });

  it('tells which nodes could run which jobs', async () => {
    const nodes = cluster();
    const one = await nodeWithJob(nodes, { acquirer: 'b' });
    await nodeWithJob(nodes, { acquirer: 'a' });
    const plan = await runNowOf(one).plan('job');
    expect(plan).toMatchObject({ holders: [], requests: [] });
    expect(plan.jobs.map(({ job, nodes: able }) => [job, able.map(({ acquirer }) => acquirer)])).toEqual([
      [EXPORT, ['a', 'b']],
    ]);
  });

  it('asks the store for no requests while there are none', async () => {
    const nodes = cluster();
    const node = await nodeWithJob(nodes);
    const keys: (string | undefined)[] = [];
    node.store.script = (_call, go, key) => {
      keys.push(key);
      return go();
    };
    await node.gatekeeper.run('job', () => 1);
    await nodes.time.advance(120_000);
    expect(keys.length).toBeGreaterThan(0);
    expect(keys.filter((key) => key?.includes('run-request'))).toEqual([]);
  });

  it('waits for a node whose clock is an hour off, which judges the request by cluster time', async () => {
    const nodes = cluster();
    const wall = () => nodes.time.wall() + 3_600_000;
    const { monotonic, schedule, nextTurn } = nodes.time;
    const nodeClock = { wall, monotonic, schedule, nextTurn };
    await nodeWithJob(nodes, { nodeClock });
    const asker = await nodes.node({ heartbeat: 1000 });
    const status = await runNowOf(asker).run('job', ANN);
    expect(status).toMatchObject({ state: 'ended', outcome: 'ok' });
    expect(Math.abs(status.startedAt! - START)).toBeLessThan(60_000);
  });
});
