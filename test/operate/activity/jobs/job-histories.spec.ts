import { UnknownOutcomeError, StoreUnavailableError } from 'nestjs-gatekeeper';
import { shardOf } from '../../../../lib/operate/activity/jobs/pending-additions.js';
import { START } from '../../../support/fake-time.js';
import { JOB, type TestCluster, type TestNode, openEnd, useCluster } from '../../../support/nodes.js';
import { Sleeper } from '../../../support/sleeper.js';
import { allTexts } from '../../../../lib/core/store/paging.js';

const DEFINITIONS = [JOB, { name: 'mail-queue', duration: '10s' }];
const noting = (nodes: TestCluster, options = {}) =>
  nodes.node({ history: true, definitions: DEFINITIONS, ...options });
/** ms until changes are in the store. */
const WRITTEN = 5000;
/** ms in which changes are not in the store yet. */
const UNWRITTEN = 100;

async function fail({ gatekeeper }: TestNode, name = 'job', message = 'disk full') {
  const work = async () => {
    throw new Error(message);
  };
  await expect(gatekeeper.run(name, work, { job: 'Jobs.export', atLeastFor: 0 })).rejects.toThrow(message);
}

const succeed = ({ gatekeeper }: TestNode, job = 'Jobs.export') =>
  gatekeeper.run('job', () => undefined, { job, atLeastFor: 0 });

describe('the past of a job', () => {
  const cluster = useCluster();

  it('has its last runs, failures and counts on all nodes', async () => {
    const nodes = cluster();
    const [one, other] = [await noting(nodes), await noting(nodes)];
    await nodes.time.advance(1000);
    await succeed(one);
    await fail(one);
    await nodes.time.advance(WRITTEN);
    await succeed(other);
    await nodes.time.advance(WRITTEN);
    const [job, ...others] = await other.gatekeeper.runs.jobs();
    expect(others).toEqual([]);
    expect(job).toMatchObject({
      semaphore: 'job',
      job: 'Jobs.export',
      runs: [
        { outcome: 'ok', node: other.gatekeeper.node },
        { outcome: 'failed', message: 'disk full' },
        { outcome: 'ok', node: one.gatekeeper.node },
      ],
      failures: [{ message: 'disk full', stack: expect.stringContaining('job-histories.spec') }],
      day: { ok: 2, failed: 1, lost: 0, crashed: 0, p50: 0 },
      week: { ok: 2, failed: 1 },
      lastOk: START + 6000,
    });
    expect(await other.gatekeeper.runs.jobs('job')).toEqual([job]);
    expect(await other.gatekeeper.runs.jobs('mail-queue')).toEqual([]);
  });

  it('looks once at the schedules of all jobs, when many jobs are written together', async () => {
    const nodes = cluster();
    const node = await noting(nodes);
    let looks = 0;
    const schedule = { kind: 'cron' as const, expression: '0 3 * * *', recent: [START - 1000] };
    node.gatekeeper.registry.jobs = () => (looks++, [{ job: 'Jobs.1', semaphore: 'job', schedule }]);
    for (let number = 1; number <= 20; number++) await succeed(node, `Jobs.${number}`);
    await nodes.time.advance(WRITTEN);
    const written = await node.gatekeeper.runs.jobs('job');
    expect(looks).toBe(1);
    expect(written).toHaveLength(20);
    expect(written.find(({ job }) => job === 'Jobs.1')).toMatchObject({ schedule: '0 3 * * *', due: START - 1000 });
  });

  it.each<[string, boolean]>([
    ['share a permit', true],
    ['have none', false],
  ])('has each of the runs that overlap, began in the same ms and %s, with its own message', async (_, isHeld) => {
    const nodes = cluster();
    const one = await noting(nodes);
    if (!isHeld) one.store.script = () => Promise.reject(new StoreUnavailableError('away'));
    const fails = async (message: string) => {
      const work = () => Promise.reject(new Error(message));
      const options = { job: 'Jobs.export', atLeastFor: 0, overlap: 'allow', onUnavailable: 'run' } as const;
      await expect(one.gatekeeper.run('job', work, options)).rejects.toThrow(message);
    };
    await Promise.all(['no 1', 'no 2', 'no 3'].map(fails));
    one.store.script = undefined;
    await nodes.time.advance(20_000);
    const messages = (entries: readonly object[]) => entries.map((entry) => 'message' in entry && entry.message);
    const found = messages(await one.gatekeeper.runs.find({ show: 'failed', limit: 10 }));
    expect(found.toSorted()).toEqual(['no 1', 'no 2', 'no 3']);
    const [job] = await one.gatekeeper.runs.jobs();
    expect(messages(job!.runs).toSorted()).toEqual(found.toSorted());
    expect(job!.failures.map(({ at }) => at)).toEqual([START, START, START]);
  });

  it('is found although another job has run 20,000 times since', async () => {
    const nodes = cluster();
    const one = await noting(nodes);
    await fail(one);
    await nodes.time.advance(WRITTEN);
    const entry = { kind: 'run', semaphore: 'mail-queue', job: 'Mail.send', node: one.gatekeeper.node, took: 1 };
    const texts = Array.from({ length: 20_000 }, (_, index) =>
      JSON.stringify({ ...entry, at: START + 10_000 + index, outcome: 'ok' }),
    );
    await nodes.raw.journal('runs').append(texts);
    const journal = await one.gatekeeper.history(10_000);
    expect(journal.some(({ semaphore }) => semaphore === 'job')).toBe(false);
    const found = await one.gatekeeper.runs.find({ show: 'failed', since: START - 86_400_000, limit: 100 });
    expect(found).toMatchObject([{ semaphore: 'job', outcome: 'failed', message: 'disk full', at: START }]);
    expect(await one.gatekeeper.runs.find({ semaphore: 'job', limit: 100 })).toEqual(found);
  });

  it('costs two calls of the store for a hundred runs, and none without runs', async () => {
    const nodes = cluster();
    const one = await noting(nodes, { sweepInterval: '5m' });
    const calls: string[] = [];
    one.store.script = (call, go) => (calls.push(call), go());
    for (let run = 0; run < 100; run++) await succeed(one);
    calls.length = 0;
    await nodes.time.advance(WRITTEN);
    expect(calls.filter((call) => call === 'compareAndSet' || call === 'read')).toEqual(['read', 'compareAndSet']);
    expect((await one.gatekeeper.runs.jobs())[0]!.day.ok).toBe(100);
    calls.length = 0;
    await nodes.time.advance(200_000);
    expect(calls.filter((call) => call !== 'now')).toEqual([]);
  });

  it.each<[string, boolean]>([
    ['was applied', true],
    ['was not applied', false],
  ])('counts a run once if the answer of its write was lost, and the write %s', async (_, isApplied) => {
    const nodes = cluster();
    const one = await noting(nodes);
    await succeed(one);
    await nodes.time.advance(UNWRITTEN);
    let lost = 0;
    one.store.script = async (call, go) => {
      if (call !== 'compareAndSet' || lost > 0) return go();
      lost++;
      if (isApplied) await go();
      throw new UnknownOutcomeError('no answer');
    };
    await nodes.time.advance(WRITTEN);
    expect(lost).toBe(1);
    await succeed(one);
    await nodes.time.advance(40_000);
    const [job] = await one.gatekeeper.runs.jobs();
    expect(job!.day).toMatchObject({ ok: 2 });
    expect(job!.runs).toHaveLength(2);
  });

  it('counts a run once if the answer of its write was lost, and another node wrote before it was looked for', async () => {
    const nodes = cluster();
    const [one, other] = [await noting(nodes), await noting(nodes)];
    await succeed(one);
    await nodes.time.advance(UNWRITTEN);
    await succeed(other);
    let lose!: () => void;
    one.store.script = async (call, go) => {
      if (call !== 'compareAndSet') return go();
      one.store.script = undefined;
      await go();
      await new Promise<void>((resolve) => (lose = resolve));
      throw new UnknownOutcomeError('no answer');
    };
    await nodes.time.advance(500 - UNWRITTEN);
    // Now the other node writes.
    await nodes.time.advance(1500);
    lose();
    await nodes.time.advance(20_000);
    const [job] = await one.gatekeeper.runs.jobs();
    expect(job!.day).toMatchObject({ ok: 2 });
    expect(job!.runs).toHaveLength(2);
  });

  it('outlasts an outage of the store', async () => {
    const nodes = cluster();
    const one = await noting(nodes);
    await fail(one);
    await nodes.time.advance(UNWRITTEN);
    one.store.script = () => Promise.reject(new StoreUnavailableError('away'));
    await nodes.time.advance(600_000);
    one.store.script = (_, go) => go();
    await nodes.time.advance(20_000);
    expect(await one.gatekeeper.runs.jobs()).toMatchObject([{ failures: [{ at: START, message: 'disk full' }] }]);
  });

  it('is written although the histories of other jobs can not be written', async () => {
    const nodes = cluster();
    const one = await noting(nodes);
    const broken = new Set(['a', 'b'].map((name) => `history:${shardOf(name)}`));
    one.store.script = (call, go, key) =>
      call === 'compareAndSet' && broken.has(key!) ? Promise.resolve(false) : go();
    const work = async (name: string) =>
      void (await one.gatekeeper.run(name, () => 1, { duration: '10s', atLeastFor: 0 }));
    for (const name of ['a', 'b', 'job']) await work(name);
    await nodes.time.advance(WRITTEN + 1000);
    for (const name of ['a', 'b', 'job']) await work(name);
    await nodes.time.advance(40_000);
    expect(await one.gatekeeper.runs.jobs()).toMatchObject([{ semaphore: 'job', day: { ok: 2 } }]);
    one.store.script = undefined;
    await nodes.time.advance(60_000);
    const [a, b] = await one.gatekeeper.runs.jobs();
    expect([a, b]).toMatchObject([
      { semaphore: 'a', day: { ok: 2 } },
      { semaphore: 'b', day: { ok: 2 } },
    ]);
  });

  it('has no stacks of the failures of a node that keeps none', async () => {
    const nodes = cluster();
    const [one, other] = [await noting(nodes, { history: { stacks: false } }), await noting(nodes, { history: {} })];
    await fail(one);
    await nodes.time.advance(WRITTEN);
    await fail(other, 'mail-queue');
    await nodes.time.advance(WRITTEN);
    const [job, mail] = await other.gatekeeper.runs.jobs();
    expect(job!.failures).toMatchObject([{ message: 'disk full' }]);
    expect(job!.failures[0]).not.toHaveProperty('stack');
    expect(mail!.failures[0]).toHaveProperty('stack');
  });

  it('knows the versions of the application, each since its first run, also when their nodes are gone', async () => {
    const nodes = cluster();
    const former = await noting(nodes, { version: '4.16' });
    await succeed(former);
    await nodes.time.advance(WRITTEN);
    await succeed(former);
    await nodes.closeOne(former);
    const [one, unnamed] = [await noting(nodes, { version: '4.17' }), await noting(nodes)];
    await nodes.time.advance(60_000);
    for (const node of [one, unnamed]) await succeed(node);
    await nodes.time.advance(WRITTEN);
    expect((await one.gatekeeper.runs.jobs('job'))[0]!.versions).toEqual([
      { version: '4.17', since: expect.closeTo(START + 65_000, -2) },
      { version: '4.16', since: START },
    ]);
  });

  it('is in the store a second after a run, also if it has run shortly before', async () => {
    const nodes = cluster();
    const one = await noting(nodes);
    for (let runs = 1; runs <= 3; runs++) {
      await succeed(one);
      await nodes.time.advance(1000);
      expect((await one.gatekeeper.runs.jobs())[0]!.day.ok).toBe(runs);
    }
  });

  it('of a job that runs all the time costs a write each five seconds, which loses none of its runs', async () => {
    const nodes = cluster();
    const one = await noting(nodes);
    let writes = 0;
    one.store.script = (call, go, key) => {
      if (call === 'compareAndSet' && key!.startsWith('history:')) writes++;
      return go();
    };
    for (let second = 0; second < 100; second++) {
      await succeed(one);
      await nodes.time.advance(1000);
    }
    // The first five follow each other faster.
    expect(writes).toBeGreaterThan(19);
    expect(writes).toBeLessThan(27);
    await nodes.time.advance(WRITTEN);
    expect((await one.gatekeeper.runs.jobs())[0]!.day.ok).toBe(100);
  });

  it('is written when a node closes', async () => {
    const nodes = cluster();
    const [one, other] = [await noting(nodes), await noting(nodes)];
    await fail(one);
    const closing = one.gatekeeper.close();
    await nodes.time.advance(1000);
    await closing;
    expect(await other.gatekeeper.runs.jobs()).toMatchObject([{ day: { failed: 1 } }]);
  });

  it('shows a run that goes on, and the crash of its node', async () => {
    const nodes = cluster();
    const clock = new Sleeper(nodes.time);
    const [one, other] = [await noting(nodes, { heartbeat: '10s' }), await noting(nodes, { heartbeat: '10s' })];
    const mortal = await nodes.node({ history: true, heartbeat: '10s', definitions: DEFINITIONS }, clock);
    const { work, end } = openEnd();
    const running = mortal.gatekeeper.run('job', (permit) => (void permit.signal, work()), { job: 'Jobs.export' });
    await nodes.time.advance(8000);
    expect(await other.gatekeeper.runs.jobs()).toMatchObject([{ running: [{ run: 1, at: START }], runs: [] }]);
    clock.freeze();
    await nodes.time.advance(120_000);
    const crash = { outcome: 'crashed', at: START, node: mortal.gatekeeper.node };
    expect(await one.gatekeeper.runs.jobs()).toMatchObject([{ running: [], failures: [crash], day: { crashed: 1 } }]);
    clock.wake();
    end();
    await running;
    await nodes.time.advance(20_000);
    expect(await one.gatekeeper.runs.jobs()).toMatchObject([
      { running: [], failures: [{ outcome: 'lost', at: START }], day: { crashed: 0, lost: 1 } },
    ]);
  });

  it('shows a run that goes on although a run of another semaphore, which began with it, has ended', async () => {
    const nodes = cluster();
    const one = await noting(nodes, { heartbeat: '10s' });
    const sibling = Array.from({ length: 2000 }, (_, index) => `x${index}`).find((x) => shardOf(x) === shardOf('job'))!;
    const [short, long] = [openEnd(), openEnd()];
    const begin = (name: string, work: () => Promise<void>) =>
      one.gatekeeper.run(name, (permit) => (void permit.signal, work()), { duration: '10s', atLeastFor: 0 });
    const running = [begin(sibling, short.work), begin('job', long.work)];
    await nodes.time.advance(3000);
    short.end();
    await running[0];
    await nodes.time.advance(2 * WRITTEN);
    expect(await one.gatekeeper.runs.jobs()).toMatchObject([
      { semaphore: 'job', running: [{ run: 1, at: START }], runs: [] },
      { semaphore: sibling, running: [], runs: [{ run: 1, at: START }] },
    ]);
    long.end();
    await running[1];
  });

  it('of a newer version is left as it is, and said', async () => {
    const nodes = cluster();
    const one = await noting(nodes);
    await succeed(one);
    await nodes.time.advance(WRITTEN);
    const [[key, text]] = (await allTexts(nodes.raw.records, 'history:')) as unknown as [[string, string]];
    const newer = '{"v":2,"writers":[],"jobs":[],"more":true}';
    await nodes.raw.records.compareAndSet(key, text, newer);
    await succeed(one);
    await nodes.time.advance(WRITTEN);
    expect(await nodes.raw.records.read(key)).toBe(newer);
    expect(one.of('problem').map(({ action }) => action)).toEqual(['read the history of jobs']);
    expect(await one.gatekeeper.runs.jobs()).toEqual([]);
  });

  it('is in no other listing of records', async () => {
    const nodes = cluster();
    const one = await noting(nodes);
    const before = (await one.gatekeeper.state()).semaphores.map(({ name }) => name);
    await succeed(one);
    await nodes.time.advance(30_000);
    expect((await allTexts(nodes.raw.records, 'history:')).size).toBe(1);
    expect((await one.gatekeeper.state()).semaphores.map(({ name }) => name)).toEqual(before);
  });

  it('stays bounded for names of jobs from arguments', async () => {
    const nodes = cluster();
    const one = await noting(nodes);
    for (let run = 0; run < 1200; run++) await succeed(one, `Jobs.${run}`);
    await nodes.time.advance(WRITTEN);
    expect(one.of('problem').map(({ error }) => (error as Error).message)).toEqual([
      'runs of 200 jobs were dropped: there were too many names of jobs',
    ]);
    expect(await one.gatekeeper.runs.jobs()).toHaveLength(64);
  });
});
