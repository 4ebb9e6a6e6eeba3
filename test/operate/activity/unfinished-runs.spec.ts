import { START } from '../../support/fake-time.js';
import { JOB, type TestCluster, openEnd, useCluster } from '../../support/nodes.js';
import { Sleeper } from '../../support/sleeper.js';

const LISTED = { history: true, heartbeat: '10s', definitions: [{ ...JOB, permits: 2 }] } as const;
const LONG = [{ ...JOB, duration: '30m' }];
/** ms until an entry is written. */
const WRITTEN = 200;

const noting = (nodes: TestCluster, options = {}) => nodes.node({ ...LISTED, ...options });

/** A listed node whose clock can be frozen. */
async function mortal(nodes: TestCluster, options = {}) {
  const clock = new Sleeper(nodes.time);
  return { clock, ...(await nodes.node({ ...LISTED, ...options }, clock)) };
}

/** Starts a run that goes on until `end`. */
function begin({ gatekeeper }: Pick<Awaited<ReturnType<typeof noting>>, 'gatekeeper'>, job = 'Jobs.work') {
  const { work, end } = openEnd();
  const running = gatekeeper.run('job', (permit) => (void permit.signal, work()), { job });
  return { end, running };
}

describe('runs without an end', () => {
  const cluster = useCluster();

  it('of less than 2 s write no start, and set one timer for all', async () => {
    const nodes = cluster();
    const one = await noting(nodes);
    await nodes.time.advance(1000);
    const before = one.store.calls.append;
    for (let run = 0; run < 20; run++) {
      const { running, end } = begin(one);
      await nodes.time.advance(300);
      end();
      await running;
    }
    await nodes.time.advance(5000);
    const texts = await nodes.raw.journal('runs').read(100);
    const ended = Array.from({ length: 20 }, (_, index) => ({ kind: 'run', run: index + 1 }));
    expect(texts.map((text) => JSON.parse(text)).map(({ kind, run }) => ({ kind, run }))).toEqual(ended);
    expect(one.store.calls.append - before).toBeLessThanOrEqual(20);
  });

  it('are running after 2 s on all nodes, until their end replaces that', async () => {
    const nodes = cluster();
    const [one, other] = [await noting(nodes), await noting(nodes)];
    await nodes.time.advance(1000);
    const { running, end } = begin(one);
    await nodes.time.advance(1900);
    expect(await other.gatekeeper.history(10)).toEqual([]);
    await nodes.time.advance(100 + WRITTEN);
    const entry = { semaphore: 'job', job: 'Jobs.work', node: one.gatekeeper.node, at: START + 1000, run: 1 };
    for (const { gatekeeper } of [one, other]) {
      expect(await gatekeeper.history(10)).toMatchObject([{ ...entry, kind: 'running', slot: 0 }]);
    }
    end();
    await running;
    await nodes.time.advance(WRITTEN);
    const [ended, ...others] = await other.gatekeeper.history(10);
    expect(ended).toMatchObject({ ...entry, kind: 'run', took: 2200, outcome: 'ok' });
    expect(others).toEqual([]);
  });

  it.each([
    ['before it was refreshed', 2500, START + 10_000],
    ['after it was refreshed', 12_000, undefined],
  ])('crashed if their node died, and had their permit until its expiry: %s', async (_, lived, expected) => {
    const nodes = cluster();
    const [one, other] = [await mortal(nodes), await noting(nodes)];
    const { running, end } = begin(one);
    await nodes.time.advance(lived);
    one.clock.freeze();
    const until = (await nodes.record()).permits[0]!.expiresAt;
    expect(until).toBe(expected ?? until);
    expect(until > START + 10_000).toBe(expected === undefined);
    await nodes.time.advance(100_000);
    expect((await nodes.record()).permits).toEqual([]);
    const crashed = { kind: 'run', outcome: 'crashed', node: one.gatekeeper.node, at: START, run: 1, until };
    const history = await other.gatekeeper.history(10);
    expect(history).toMatchObject([crashed]);
    expect(history[0]).not.toHaveProperty('took');
    const [semaphore] = (await other.gatekeeper.overview('job')).semaphores;
    expect(semaphore!.lastRun).toMatchObject(crashed);
    one.clock.wake();
    end();
    await running;
  });

  describe('that lose their permit', () => {
    /** Starts a run of `maxRunTime` 20 s that never ends by itself, on the first of two nodes, and waits for its loss. */
    async function stuck(nodes: TestCluster, changes = {}) {
      const [one, other] = [await mortal(nodes, changes), await noting(nodes, changes)];
      const { work, end } = openEnd();
      const running = one.gatekeeper.run('job', work, { job: 'Jobs.work', maxRunTime: '20s' });
      await nodes.time.advance(12_000);
      expect(await other.gatekeeper.history(10)).toMatchObject([{ kind: 'running' }]);
      expect((await other.gatekeeper.history(10))[0]).not.toHaveProperty('loss');
      await nodes.time.advance(8000 + WRITTEN);
      return { one, other, running, end };
    }
    const loss = { reason: 'max-run-time', at: START + 20_000 };
    const week = async ({ gatekeeper }: Awaited<ReturnType<typeof noting>>) => (await gatekeeper.runs.jobs())[0]!.week;

    it('go on without it, and did not crash, when another node drops the permit', async () => {
      const nodes = cluster();
      const { other, running, end } = await stuck(nodes);
      const going = { kind: 'running', at: START, run: 1, loss };
      expect(await other.gatekeeper.history(10)).toMatchObject([going]);
      // Longer than the permit lasts, and than the nodes take to write.
      await nodes.time.advance(40_000);
      expect((await nodes.record()).permits).toEqual([]);
      expect(await other.gatekeeper.history(10)).toMatchObject([going]);
      const [past] = await other.gatekeeper.runs.jobs();
      expect(past).toMatchObject({ running: [going], runs: [], failures: [], week: { crashed: 0, lost: 0 } });
      const [semaphore] = (await other.gatekeeper.overview('job')).semaphores;
      expect(semaphore!.warnings).toEqual([
        {
          code: 'run-overdue',
          sentence: expect.stringMatching(
            /^a run of Jobs.work goes on for 1 min .* has had no permit since .*, because the run took longer than its maxRunTime: it does not react/,
          ),
        },
      ]);
      end();
      await running;
      await nodes.time.advance(10_000);
      expect(await other.gatekeeper.history(10)).toMatchObject([{ kind: 'run', outcome: 'lost', loss, took: 60_200 }]);
      expect(await week(other)).toMatchObject({ crashed: 0, lost: 1 });
    });

    it('were lost, and did not crash, if their node dies later', async () => {
      const nodes = cluster();
      const { one, other, running, end } = await stuck(nodes);
      await nodes.time.advance(10_000);
      one.clock.freeze();
      await nodes.time.advance(60_000);
      const lost = { kind: 'run', outcome: 'lost', loss, at: START };
      const [entry] = await other.gatekeeper.history(10);
      expect(entry).toMatchObject(lost);
      expect(entry).not.toHaveProperty('took');
      expect((await other.gatekeeper.runs.jobs())[0]!.runs).toMatchObject([lost]);
      const [semaphore] = (await other.gatekeeper.overview('job')).semaphores;
      expect(semaphore!.warnings).toMatchObject([
        { code: 'run-failed', sentence: expect.stringContaining('because the run took longer than its maxRunTime') },
      ]);
      one.clock.wake();
      end();
      await running;
    });

    it('also within the first 2 s, when their node shuts down', async () => {
      const nodes = cluster();
      const [one, other] = [await noting(nodes, { shutdownGrace: 0 }), await noting(nodes)];
      await nodes.time.advance(1000);
      const { running, end } = begin(one);
      await nodes.time.advance(1000);
      const closed = one.gatekeeper.close();
      await nodes.time.advance(1000);
      await closed;
      const lost = { kind: 'run', outcome: 'lost', at: START + 1000, loss: { reason: 'closing' } };
      expect(await other.gatekeeper.history(10)).toMatchObject([lost]);
      end();
      await running;
    });
  });

  it('that a shutdown has cut keep their permit until it expires, and log, history and warnings say so', async () => {
    const nodes = cluster();
    const options = { definitions: [JOB] };
    const one = await noting(nodes, { ...options, acquirer: 'worker-1', shutdownGrace: '1s' });
    const other = await noting(nodes, options);
    const { running, end } = begin(one);
    await nodes.time.advance(4000);
    const closed = one.gatekeeper.close();
    await nodes.time.advance(1000);
    await closed;
    expect(one.log.filter((line) => line.includes('has not ended'))).toEqual([
      expect.stringMatching(
        /^warn "job": problem in "shut down": Jobs\.work has not ended after its signal: its permit stays until /,
      ),
    ]);
    const until = (await nodes.record()).permits[0]!.expiresAt;
    expect(until).toBeGreaterThan(nodes.time.cluster());
    expect(await other.gatekeeper.history(10)).toMatchObject([
      { kind: 'run', outcome: 'lost', loss: { reason: 'closing' }, until },
    ]);
    const warnings = async () => (await other.gatekeeper.overview('job')).semaphores[0]!.warnings;
    expect(await warnings()).toContainEqual({
      code: 'holder-silent',
      sentence: expect.stringMatching(
        /^worker-1 is not heard of and holds slot 0 until .*: it shut down before Jobs\.work had ended, and the run may work on, so its permit stays\. No other node runs before that time/,
      ),
    });
    await nodes.time.advance(until - nodes.time.cluster() - 1);
    expect(await other.gatekeeper.tryAcquire('job')).toBeUndefined();
    await nodes.time.advance(2000);
    expect(await other.gatekeeper.tryAcquire('job')).toBeDefined();
    // The end that is written late, if the process lives after all, replaces all of that.
    end();
    await running;
  });

  it('crashed while their permit is still there: until the expiry in its record', async () => {
    const nodes = cluster();
    const [one, other] = [await mortal(nodes, { definitions: LONG }), await noting(nodes, { definitions: LONG })];
    const { running, end } = begin(one);
    await nodes.time.advance(25 * 60_000);
    one.clock.freeze();
    const until = (await nodes.record()).permits[0]!.expiresAt;
    await nodes.time.advance(40_000);
    expect(until).toBeGreaterThan(Math.max(nodes.time.cluster(), START + 30 * 60_000));
    expect(await other.gatekeeper.history(10)).toMatchObject([{ outcome: 'crashed', until }]);
    one.clock.wake();
    end();
    await running;
  });

  it('of a node that was only frozen are replaced by their end', async () => {
    const nodes = cluster();
    const [one, other] = [await mortal(nodes), await noting(nodes)];
    const { running, end } = begin(one);
    await nodes.time.advance(3000);
    one.clock.freeze();
    await nodes.time.advance(40_000);
    expect(await other.gatekeeper.history(10)).toMatchObject([{ outcome: 'crashed' }]);
    expect((await other.gatekeeper.overview('job')).semaphores[0]!.lastRun).toMatchObject({ outcome: 'crashed' });
    one.clock.wake();
    await nodes.time.advance(2000);
    expect(await other.gatekeeper.history(10)).toMatchObject([{ kind: 'running' }]);
    expect((await other.gatekeeper.overview('job')).semaphores[0]).not.toHaveProperty('lastRun');
    end();
    await running;
    await nodes.time.advance(2000);
    expect(await other.gatekeeper.history(10)).toMatchObject([{ kind: 'run', outcome: 'lost' }]);
    expect((await other.gatekeeper.overview('job')).semaphores[0]!.lastRun).toMatchObject({ outcome: 'lost' });
  });

  it('do not make the history shorter than was asked for', async () => {
    const nodes = cluster();
    const one = await noting(nodes);
    for (const job of ['a', 'b', 'c', 'd']) {
      const { running, end } = begin(one, job);
      await nodes.time.advance(2500);
      end();
      await running;
      await nodes.time.advance(WRITTEN);
    }
    expect((await one.gatekeeper.history(3)).map(({ job }) => job)).toEqual(['b', 'c', 'd']);
    expect(await nodes.raw.journal('runs').read(100)).toHaveLength(8);
  });

  it('cost readers two more calls, and none once there is no such run', async () => {
    const nodes = cluster();
    const [one, other] = [await noting(nodes), await noting(nodes)];
    const listings = async () => {
      const { page } = other.store.calls;
      await other.gatekeeper.history(10);
      return other.store.calls.page - page;
    };
    const { running, end } = begin(one);
    expect(await listings()).toBe(0);
    await nodes.time.advance(2500);
    expect(await listings()).toBe(1);
    end();
    await running;
    await nodes.time.advance(WRITTEN);
    expect(await listings()).toBe(0);
  });

  it.each([
    ['keeps no history', { history: false }],
    ['is not listed, so that no other could tell whether it lives', { heartbeat: 0 }],
  ])('are not noted by a node that %s', async (_, options) => {
    const nodes = cluster();
    const one = await noting(nodes, options);
    const { running, end } = begin(one);
    await nodes.time.advance(5000);
    expect(await nodes.raw.journal('runs').read(10)).toEqual([]);
    end();
    await running;
  });
});
