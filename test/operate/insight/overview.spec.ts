import { StoreUnavailableError, type JobInfo } from 'nestjs-gatekeeper';
import { inSlices } from '../../../lib/core/async/slices.js';
import { systemClock } from '../../../lib/core/async/node-clock.js';
import { withHeldPermits } from '../../../lib/operate/insight/index.js';
import { START } from '../../support/fake-time.js';
import { partsOf } from '../../../lib/gatekeeper/parts.js';
import { instanceOfProgram } from '../../../lib/core/context/node-identity.js';
import type { ExternalGrant } from '../../../lib/core/permits/external/external-calls.js';
import { candidate, scopeOf } from '../../leadership/candidates.js';
import { JOB, type TestCluster, shardKeyOf, useCluster } from '../../support/nodes.js';

const DAILY: JobInfo = {
  job: 'Jobs.export',
  semaphore: 'job',
  schedule: { kind: 'cron', expression: '0 3 * * *', next: START + 5000, interval: 86_400_000 },
};

/** A node that tells of itself, runs `jobs` by itself and notes its runs. */
async function working(nodes: TestCluster, jobs: JobInfo[] = [DAILY], options = {}) {
  await nodes.bear();
  const node = nodes.unstarted({
    definitions: [JOB],
    definitionsDelay: 0,
    heartbeat: '10s',
    history: true,
    ...options,
  });
  node.gatekeeper.registry.jobs = () => jobs;
  await node.gatekeeper.start();
  await nodes.time.advance(0);
  return node;
}

describe('the overview', () => {
  const cluster = useCluster();

  it('shows of each semaphore what it guards, on how many nodes, and when it runs next', async () => {
    const nodes = cluster();
    const one = await working(nodes);
    const later = { ...DAILY, schedule: { ...DAILY.schedule!, next: START + 9000 } };
    await working(nodes, [later, { job: 'Jobs.other', semaphore: 'job' }, { job: 'Jobs.byTenant' }]);
    const overview = await one.gatekeeper.overview();
    expect(overview).toMatchObject({ now: START, nodes: [{ acquirer: 'app1' }, { acquirer: 'app2' }] });
    expect(overview.semaphores).toMatchObject([
      {
        name: 'job',
        free: 1,
        jobs: [
          { job: 'Jobs.export', nodes: 2 },
          { job: 'Jobs.other', nodes: 1 },
        ],
        next: START + 5000,
        warnings: [],
      },
    ]);
    expect(overview.semaphores[0]).not.toHaveProperty('lastRun');
  });

  it('is read once for all that ask while another reading goes on, and after they asked', async () => {
    const { gatekeeper, store } = await working(cluster());
    await gatekeeper.overview();
    const before = store.calls.page;
    await gatekeeper.overview();
    const once = store.calls.page - before;
    const first = gatekeeper.overview();
    await Promise.resolve();
    const pausing = gatekeeper.definitions.pause('job', { by: 'ann' });
    await pausing;
    const later = await Promise.all(Array.from({ length: 20 }, () => gatekeeper.overview()));
    await first;
    expect(store.calls.page - before).toBeLessThanOrEqual(3 * once);
    for (const { semaphores } of later) expect(semaphores[0]!.pause?.by).toBe('ann');
  });

  it('of the last second is shared by all that take it, and has no change that came after it', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await working(nodes);
    const { overviews } = partsOf(gatekeeper);
    const former = await overviews.recent();
    await gatekeeper.definitions.pause('job', { by: 'ann' });
    await nodes.time.advance(999);
    const { page } = store.calls;
    for (const each of await Promise.all(Array.from({ length: 20 }, () => overviews.recent()))) {
      expect(each).toBe(former);
    }
    expect(store.calls.page).toBe(page);
    expect((await overviews.read()).semaphores[0]!.pause?.by).toBe('ann');
    await nodes.time.advance(1);
    expect((await overviews.recent()).semaphores[0]!.pause?.by).toBe('ann');
  });

  it('of one semaphore is the same as among all, and reads no other record', async () => {
    const nodes = cluster();
    const definitions = ['job', 'other', 'third'].map((name) => ({ ...JOB, name }));
    const { gatekeeper, store } = await working(nodes, [DAILY], { definitions });
    await gatekeeper.tryAcquire('job');
    const all = await gatekeeper.overview();
    const { page } = store.calls;
    expect(await gatekeeper.overview('job')).toEqual({ ...all, semaphores: [all.semaphores[0]] });
    // Of the registry of the nodes.
    expect(store.calls).toMatchObject({ page: page + 1 });
    expect((await gatekeeper.overview('typo')).semaphores).toEqual([]);
    store.script = () => Promise.reject(new StoreUnavailableError('away'));
    expect((await gatekeeper.overview('job')).semaphores).toMatchObject([{ name: 'job', holders: [{ isMine: true }] }]);
  });

  it('of one semaphore shows why its shard can not be read, and not that there is none of that name', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    await gatekeeper.definitions.define({ name: 'x', duration: '10s' });
    const key = shardKeyOf('x');
    await nodes.raw.records.compareAndSet(key, await nodes.raw.records.read(key), 'rubbish');
    const problem = expect.stringContaining("can't be read");
    expect((await gatekeeper.overview('x')).semaphores).toMatchObject([{ name: 'x', problem }]);
  });

  it('marks the holders that are no longer heard of, and not those of programs', async () => {
    const nodes = cluster();
    const two = { definitions: [{ ...JOB, permits: 4, duration: '10m' }] };
    const one = await working(nodes, [], two);
    const other = await working(nodes, [], two);
    await one.gatekeeper.tryAcquire('job');
    await other.gatekeeper.tryAcquire('job');
    const program = { semaphore: 'job', instance: instanceOfProgram('ci'), holder: 'ci', acquirer: 'ci' };
    const { external } = partsOf(one.gatekeeper);
    const { signal } = new AbortController();
    await external.take(program, { wait: 0, signal });
    const unheard = async () => {
      const { holders } = (await one.gatekeeper.overview()).semaphores[0]!;
      return holders.flatMap(({ acquirer, isUnheard }) => (isUnheard ? [acquirer] : []));
    };
    await nodes.time.advance(60_000);
    expect(await unheard()).toEqual([]);
    // A slot that is kept after a release has no process.
    const brief = { ...program, instance: instanceOfProgram('brief'), holder: 'brief', acquirer: 'brief' };
    const { permit } = (await external.take(brief, { wait: 0, signal })) as ExternalGrant;
    const kept = { semaphore: 'job', instance: brief.instance, id: permit.id };
    expect(await external.release(kept, { atLeastFor: 300_000 })).toBe(true);
    await nodes.time.advance(60_000);
    expect(await unheard()).toEqual([]);
    other.store.script = () => Promise.reject(new StoreUnavailableError('away'));
    await nodes.time.advance(60_000);
    expect(await unheard()).toEqual(['app2']);
    one.store.script = (call, go) => (call === 'page' ? Promise.reject(new StoreUnavailableError('away')) : go());
    expect(await unheard()).toEqual([]);
  });

  it('has no next run where no node is let through that runs it by itself', async () => {
    const nodes = cluster();
    const { gatekeeper } = await working(nodes);
    await gatekeeper.definitions.pause('job');
    expect((await gatekeeper.overview()).semaphores[0]).not.toHaveProperty('next');
    await gatekeeper.definitions.resume('job');
    expect((await gatekeeper.overview()).semaphores[0]).toHaveProperty('next', START + 5000);
    await gatekeeper.definitions.edit('job', { permits: 0 });
    expect((await gatekeeper.overview()).semaphores[0]).not.toHaveProperty('next');
    await gatekeeper.definitions.edit('job', { permits: 1, groupPattern: 'elsewhere' });
    expect((await gatekeeper.overview()).semaphores[0]).not.toHaveProperty('next');
  });

  it('counts a next run on that passed since the node told of it', async () => {
    const nodes = cluster();
    const everySecond = { ...DAILY, schedule: { ...DAILY.schedule!, next: START + 500, interval: 1000 } };
    const { gatekeeper } = await working(nodes, [everySecond]);
    await nodes.time.advance(2700);
    expect((await gatekeeper.overview()).semaphores[0]).toHaveProperty('next', START + 3500);
  });

  it('shows the newest run, wherever it was', async () => {
    const nodes = cluster();
    const [one, other] = [await working(nodes), await working(nodes, [])];
    await one.gatekeeper.run('job', () => 1, { job: 'Jobs.export', overlap: 'allow', atLeastFor: 0 });
    await nodes.time.advance(2000);
    await expect(
      other.gatekeeper.run('job', () => Promise.reject(new Error('disk full')), { job: 'Jobs.export', atLeastFor: 0 }),
    ).rejects.toThrow('disk full');
    await nodes.time.advance(1000);
    const lastRun = { at: START + 2000, outcome: 'failed', message: 'disk full', node: other.gatekeeper.node };
    expect((await one.gatekeeper.overview()).semaphores[0]).toMatchObject({ lastRun });
    await one.gatekeeper.run('job', () => 1, { job: 'Jobs.export', overlap: 'allow', atLeastFor: 0 });
    await nodes.time.advance(1000);
    expect((await one.gatekeeper.overview()).semaphores[0]).toMatchObject({ lastRun: { outcome: 'ok' } });
  });

  it('shows the newest run of any of its jobs', async () => {
    const nodes = cluster();
    const { gatekeeper } = await working(nodes);
    for (const job of ['Jobs.export', 'Jobs.other']) {
      await gatekeeper.run('job', () => 1, { job, atLeastFor: 0 });
      await nodes.time.advance(1000);
    }
    expect((await gatekeeper.overview()).semaphores[0]).toMatchObject({ lastRun: { job: 'Jobs.other' } });
  });

  it('shows a job as the node has it that started last, in the midst of an update', async () => {
    const nodes = cluster();
    const weekly = { ...DAILY, schedule: { ...DAILY.schedule!, expression: '0 3 * * 1' } };
    await working(nodes, [DAILY], { acquirer: 'b' });
    await nodes.time.advance(1000);
    const { gatekeeper } = await working(nodes, [weekly], { acquirer: 'a' });
    expect((await gatekeeper.overview()).semaphores[0]!.jobs).toMatchObject([
      { nodes: 2, schedule: { expression: '0 3 * * 1' } },
    ]);
  });

  it('shows no holder of a permit that is over, even before it is dropped', async () => {
    const nodes = cluster();
    const { gatekeeper } = await working(nodes);
    await gatekeeper.tryAcquire('job');
    const holds = async () => {
      const overview = await gatekeeper.overview();
      return (await inSlices(withHeldPermits(overview.nodes, overview.semaphores), systemClock))[0]!.holds.length;
    };
    expect(await holds()).toBe(1);
    nodes.time.freeze(10_001);
    expect(await holds()).toBe(0);
  });

  it('shows the last run of a rare job when others have pushed it out of the journal', async () => {
    const nodes = cluster();
    const [one, other] = [await working(nodes), await working(nodes, [])];
    await expect(
      one.gatekeeper.run('job', () => Promise.reject(new Error('disk full')), { job: 'Jobs.export', atLeastFor: 0 }),
    ).rejects.toThrow('disk full');
    // Once it is written.
    await nodes.time.advance(1000);
    await other.store.journal('runs').append(Array.from({ length: 10_000 }, () => '{}'));
    const lastRun = { kind: 'run', job: 'Jobs.export', at: START, outcome: 'failed', message: 'disk full' };
    const shown = async () => (await other.gatekeeper.overview()).semaphores[0]!;
    expect(await other.gatekeeper.history(10_000)).not.toContainEqual(expect.objectContaining({ kind: 'run' }));
    expect(await shown()).toMatchObject({ lastRun: { ...lastRun, node: one.gatekeeper.node } });
    // Its node alone could tell of it, if it still lived.
    await nodes.closeOne(one);
    await nodes.time.advance(3_600_000);
    expect(await shown()).toMatchObject({ lastRun: { ...lastRun, node: one.gatekeeper.node } });
  });

  it('shows the last term of a scope, however long ago it began, which is no run of a job', async () => {
    const nodes = cluster();
    const one = await candidate(nodes, { history: true, leadership: { scopes: ['main'], lease: '10s' } });
    const resigned = scopeOf(one, 'main').resign();
    await nodes.time.advance(5000);
    await resigned;
    await one.store.journal('runs').append(Array.from({ length: 10_000 }, () => '{}'));
    const { semaphores } = await one.gatekeeper.overview();
    const scope = semaphores.find(({ name }) => name === 'leader:main')!;
    expect(scope).toMatchObject({ lastRun: { job: 'leadership', outcome: 'ok', ended: 'resigned' }, warnings: [] });
    expect(await one.gatekeeper.runs.jobs()).toEqual([]);
  });

  it('costs one call for the past of all jobs or of one semaphore, and none for the journal', async () => {
    const nodes = cluster();
    const [one, other] = [await working(nodes), await working(nodes)];
    await one.gatekeeper.run('job', () => 1, { job: 'Jobs.export', atLeastFor: 0 });
    await nodes.time.advance(60_000);
    const keys: string[] = [];
    const { readJournal } = other.store.calls;
    other.store.script = (_call, go, key) => (key?.includes('history:') && keys.push(key), go());
    await other.gatekeeper.overview();
    expect(keys).toHaveLength(1);
    await other.gatekeeper.overview();
    expect(keys).toHaveLength(1);
    // Of one semaphore it reads only the page of its jobs.
    await other.gatekeeper.overview('job');
    expect(keys[1]).toMatch(/^history:\d+$/);
    expect(other.store.calls.readJournal).toBe(readJournal);
    // The list of its runs shows them as they are now.
    await other.gatekeeper.runs.find({ semaphore: 'job', limit: 10 });
    expect(keys.slice(2)).toEqual([keys[1]]);
  });

  it('shows that a run goes on, though another one of its job that began in the same ms has ended', async () => {
    const nodes = cluster();
    const frequent = { ...DAILY, schedule: { ...DAILY.schedule!, interval: 20_000 } };
    const { gatekeeper } = await working(nodes, [frequent], { definitions: [{ ...JOB, permits: 2 }] });
    let end = () => {};
    const long = gatekeeper.run('job', () => new Promise<void>((resolve) => (end = resolve)), { job: 'Jobs.export' });
    await gatekeeper.run('job', () => 1, { job: 'Jobs.export', overlap: 'allow', atLeastFor: 0 });
    // Long enough for the next card of the node, too, which has the run that has ended.
    await nodes.time.advance(25_000);
    const overdue = async () =>
      (await gatekeeper.overview()).semaphores[0]!.warnings.filter(({ code }) => code === 'run-overdue');
    expect(await overdue()).toHaveLength(1);
    end();
    await long;
    await nodes.time.advance(11_000);
    expect(await overdue()).toEqual([]);
  });

  it('is what this node knows while the store can not be asked', async () => {
    const { gatekeeper, store } = await working(cluster());
    store.script = () => Promise.reject(new StoreUnavailableError('away'));
    const { semaphores, nodes } = await gatekeeper.overview();
    expect(nodes).toEqual([]);
    expect(semaphores).toMatchObject([{ name: 'job', jobs: [], warnings: [] }]);
  });

  it('warns of one missed run although all nodes restarted since the last one', async () => {
    const nodes = cluster();
    const at = (time: number): JobInfo => ({
      ...DAILY,
      schedule: { ...DAILY.schedule!, next: time + 86_400_000, recent: [time] },
    });
    const former = await working(nodes, [at(START)]);
    await former.gatekeeper.run('job', () => undefined, { job: 'Jobs.export', atLeastFor: 0 });
    await nodes.time.advance(5000);
    await Promise.all([former.gatekeeper.close(), nodes.time.advance(5000)]);
    await nodes.time.advance(86_400_000);
    const later = await working(nodes, [at(START + 86_400_000)]);
    await nodes.time.advance(20_000);
    const codes = async () => (await later.gatekeeper.overview()).semaphores[0]!.warnings.map(({ code }) => code);
    expect(await codes()).toEqual(['not-run']);
    await later.gatekeeper.run('job', () => undefined, { job: 'Jobs.export', atLeastFor: 0 });
    await nodes.time.advance(2000);
    expect(await codes()).toEqual([]);
  });
});
