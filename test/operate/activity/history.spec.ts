import { StoreUnavailableError } from 'nestjs-gatekeeper';
import { show } from '../../../lib/core/decision/index.js';
import { START } from '../../support/fake-time.js';
import { JOB, type TestCluster, openEnd, useCluster } from '../../support/nodes.js';

const noting = (nodes: TestCluster, options = {}) => nodes.node({ history: true, ...options });

describe('the history of runs', () => {
  const cluster = useCluster();

  it('has each run once it has ended: where, when, how long, and under which token', async () => {
    const nodes = cluster();
    const [one, other] = [await noting(nodes), await noting(nodes)];
    await nodes.time.advance(1000);
    const { work, end } = openEnd();
    let token = 0;
    const running = one.gatekeeper.run('job', (permit) => ((token = permit.token), work()), { job: 'Jobs.work' });
    await nodes.time.advance(3000);
    expect(await other.gatekeeper.history(10)).toEqual([]);
    end();
    await running;
    await nodes.time.advance(100);
    expect(await other.gatekeeper.history(10)).toEqual([
      {
        kind: 'run',
        semaphore: 'job',
        job: 'Jobs.work',
        node: one.gatekeeper.node,
        at: START + 1000,
        took: 3000,
        outcome: 'ok',
        token,
        slot: 0,
        run: 1,
      },
    ]);
  });

  it('says what a run failed with, and no more than fits', async () => {
    const nodes = cluster();
    const { gatekeeper } = await noting(nodes);
    const fail = async (error: unknown) => {
      const work = async () => {
        throw error;
      };
      await expect(gatekeeper.run('job', work, { atLeastFor: 0 })).rejects.toBe(error);
    };
    await fail(new Error('disk full'));
    await fail('a text');
    await fail(undefined);
    await fail(Object.create(null));
    await fail(new Error('x'.repeat(600)));
    await fail(Object.assign(new Error('replaced by that of an answer'), { message: null }));
    await fail(Object.assign(new Error('also'), { message: { code: 'E42' }, stack: ['at a'] }));
    await nodes.time.advance(100);
    expect((await gatekeeper.history(10)).map((entry) => 'message' in entry && entry.message)).toEqual([
      'disk full',
      'a text',
      'undefined',
      show({}),
      `${'x'.repeat(500)}…`,
      'null',
      show({ code: 'E42' }),
    ]);
    expect(await gatekeeper.history(1)).toMatchObject([{ outcome: 'failed' }]);
  });

  it('calls a run lost that ended without the permit that it began with', async () => {
    const nodes = cluster();
    const { gatekeeper } = await noting(nodes);
    const { work, end } = openEnd();
    const running = gatekeeper.run('job', (permit) => (void permit.signal, work()));
    await nodes.time.advance(10);
    const { id } = (await gatekeeper.state()).semaphores[0]!.holders[0]!;
    await gatekeeper.definitions.revoke('job', id);
    await nodes.time.advance(10);
    end();
    await running;
    await nodes.time.advance(100);
    const loss = { at: START + 10, reason: 'revoked' };
    expect(await gatekeeper.history(10)).toMatchObject([{ outcome: 'lost', slot: 0, loss }]);
    await nodes.time.advance(60_000);
    const [past] = await gatekeeper.runs.jobs('job');
    expect(past).toMatchObject({ failures: [{ outcome: 'lost', loss }] });
  });

  it('tells how often the permit of a run was renewed', async () => {
    const nodes = cluster();
    const { gatekeeper, of } = await noting(nodes);
    const { work, end } = openEnd();
    const running = gatekeeper.run('job', work);
    await nodes.time.advance(15_000);
    end();
    await running;
    await nodes.time.advance(100);
    const renewals = of('refreshed').length;
    expect(renewals).toBeGreaterThan(2);
    expect(await gatekeeper.history(1)).toMatchObject([{ outcome: 'ok', renewals }]);
    await gatekeeper.run('job', () => 1);
    await nodes.time.advance(100);
    expect((await gatekeeper.history(1))[0]).not.toHaveProperty('renewals');
  });

  it('has a run without a permit, without token and slot', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await noting(nodes);
    store.script = () => Promise.reject(new StoreUnavailableError('away'));
    await gatekeeper.run('job', () => 1, { onUnavailable: 'run' });
    store.script = undefined;
    await nodes.time.advance(100);
    const [entry] = await gatekeeper.history(1);
    expect(entry).toMatchObject({ kind: 'run', outcome: 'ok' });
    expect(entry).not.toHaveProperty('token');
  });

  it('has a row of skips for one reason once, and tells how long it was when another begins', async () => {
    const nodes = cluster();
    const [one, other] = [await noting(nodes), await noting(nodes)];
    const tick = async () => {
      await other.gatekeeper.run('job', () => 1, { job: 'Jobs.work' });
      await nodes.time.advance(1000);
    };
    await one.gatekeeper.tryAcquire('job');
    for (let ticks = 0; ticks < 5; ticks++) await tick();
    await one.gatekeeper.definitions.pause('job');
    for (let ticks = 0; ticks < 3; ticks++) await tick();
    const skip = { kind: 'skip', semaphore: 'job', job: 'Jobs.work', node: other.gatekeeper.node };
    expect(await one.gatekeeper.history(10)).toEqual([
      { ...skip, at: START, reason: 'no-permit' },
      { ...skip, at: START + 5000, reason: 'paused', before: { reason: 'no-permit', count: 5 } },
    ]);
  });

  it('begins a new row of skips after a run, and for each job', async () => {
    const nodes = cluster();
    const [one, other] = [await noting(nodes), await noting(nodes)];
    const run = (job: string) => other.gatekeeper.run('job', () => 1, { job, atLeastFor: 0 });
    const permit = (await one.gatekeeper.tryAcquire('job'))!;
    await run('a');
    await run('b');
    await permit.release();
    await run('a');
    await one.gatekeeper.tryAcquire('job');
    await run('a');
    await run('b');
    await nodes.time.advance(100);
    expect((await one.gatekeeper.history(10)).map(({ kind, job }) => `${kind} ${job}`)).toEqual([
      'skip a',
      'skip b',
      'run a',
      'skip a',
    ]);
  });

  it('remembers the present row of skips of 1,000 jobs: the one that did not skip for the longest time is forgotten', async () => {
    const nodes = cluster();
    const [one, other] = [await noting(nodes), await noting(nodes)];
    await one.gatekeeper.tryAcquire('job');
    const skip = (job: string) => other.gatekeeper.run('job', () => 1, { job });
    await skip('forgotten');
    await skip('frequent');
    for (let job = 0; job < 998; job++) await skip(`job ${job}`);
    await skip('frequent');
    await skip('one more');
    await skip('frequent');
    await skip('forgotten');
    await nodes.time.advance(1000);
    const jobs = (await one.gatekeeper.history(10_000)).map(({ job }) => job);
    const countOf = (wanted: string) => jobs.filter((job) => job === wanted).length;
    expect([countOf('forgotten'), countOf('frequent'), jobs.length]).toEqual([2, 1, 1002]);
  });

  it('has nothing of a node that keeps none', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node({ definitions: [JOB], history: false });
    await gatekeeper.run('job', () => 1);
    await nodes.time.advance(1000);
    expect(await gatekeeper.history(10)).toEqual([]);
  });
});
