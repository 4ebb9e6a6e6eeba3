import { PermitLostError, type RunPermit, StoreUnavailableError, UnknownOutcomeError } from 'nestjs-gatekeeper';
import { settled } from '../../support/fake-time.js';
import { JOB, outcomeOf, openEnd, useCluster } from '../../support/nodes.js';
import { ScriptedArchive } from '../../support/scripted-archive.js';

describe('close', () => {
  const cluster = useCluster();

  it('leaves no timer, and no connection', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node({ stateDump: '1m' });
    await gatekeeper.run('job', () => 1);
    await gatekeeper.tryAcquire('job', { keepAlive: true, holder: 'another' });
    await nodes.time.advance(5000);
    await gatekeeper.close();
    expect(nodes.time.pending).toBe(0);
    expect(store.calls.close).toBe(1);
  });

  it('leaves no timer of a start that goes on meanwhile', async () => {
    const nodes = cluster();
    const archive = new ScriptedArchive();
    archive.script = () => new Promise(() => {});
    const options = { store: nodes.memory, persistence: archive.persistence, stateDump: '1m', heartbeat: '5s' };
    const { gatekeeper } = nodes.unstarted({ ...options, definitions: [JOB] });
    const starting = gatekeeper.start();
    await settled();
    const closing = gatekeeper.close();
    await nodes.time.advance(20_000);
    expect(await outcomeOf(Promise.all([starting, closing]))).toHaveProperty('value');
    expect(nodes.time.pending).toBe(0);
  });

  it('leaves no timer of a node that was started twice, which asks the store no more often than others', async () => {
    const nodes = cluster();
    const options = { heartbeat: '5s', membership: {}, stateDump: '1m' };
    const [once, twice] = [await nodes.node(options), await nodes.node(options)];
    await twice.gatekeeper.start();
    const callsIn = async (ms: number) => {
      const before = [once, twice].map(({ store }) => store.calls.page + store.calls.read);
      await nodes.time.advance(ms);
      return [once, twice].map(({ store }, index) => store.calls.page + store.calls.read - before[index]!);
    };
    await nodes.time.advance(60_000);
    const [expected, calls] = await callsIn(300_000);
    expect(calls! / expected!).toBeLessThan(1.5);
    await Promise.all([once, twice].map((node) => nodes.closeOne(node)));
    expect(nodes.time.pending).toBe(0);
  });

  it('leaves no timer of those who waited', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    await one.gatekeeper.tryAcquire('job');
    const waiting = other.gatekeeper.acquire('job', { timeout: '1h' }).catch((error: Error) => error);
    await settled();
    await Promise.all([one.gatekeeper.close(), other.gatekeeper.close()]);
    expect(await waiting).toMatchObject({ reason: 'closing' });
    expect(nodes.time.pending).toBe(0);
  });

  it('leaves no timer of what it still tried to take back', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    store.script = (call, go) => (call === 'compareAndSet' ? Promise.reject(new UnknownOutcomeError('lost')) : go());
    const asked = gatekeeper.tryAcquire('job').catch((error: Error) => error);
    await nodes.time.advance(5000);
    expect(await asked).toBeInstanceOf(UnknownOutcomeError);
    store.script = () => Promise.reject(new StoreUnavailableError('away'));
    await nodes.time.advance(5000);
    await gatekeeper.close();
    expect(nodes.time.pending).toBe(0);
  });

  it('leaves no timer of what it was just taking back', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    store.script = (call, go) => (call === 'compareAndSet' ? new Promise(() => undefined) : go());
    const asked = gatekeeper.tryAcquire('job').catch((error: Error) => error);
    await nodes.time.advance(2500);
    expect(await asked).toBeInstanceOf(UnknownOutcomeError);
    await gatekeeper.close();
    await settled();
    expect(nodes.time.pending).toBe(0);
  });

  it('ends also the parts that a start begins later', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = nodes.unstarted({ definitions: [JOB], heartbeat: '5s' });
    const { work: answered, end: answer } = openEnd();
    const watch = store.watch.bind(store);
    const later = (...args: Parameters<typeof watch>) => answered().then(() => watch(...args));
    Object.assign(store, { watch: later });
    const starting = gatekeeper.start();
    await settled();
    const closing = gatekeeper.close();
    await settled();
    answer();
    await nodes.time.advance(5000);
    await Promise.all([starting, closing]);
    expect(nodes.time.pending).toBe(0);
  });

  it('ends a start that still verifies the store', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = nodes.unstarted({ definitions: [JOB] });
    let verified!: () => void;
    Object.assign(store, { verify: () => new Promise<void>((resolve) => (verified = resolve)) });
    const starting = gatekeeper.start();
    await gatekeeper.close();
    verified();
    await starting;
    expect(nodes.time.pending).toBe(0);
  });

  it('is idempotent, also at once', async () => {
    const { gatekeeper, store } = await cluster().node();
    await Promise.all([gatekeeper.close(), gatekeeper.close()]);
    await gatekeeper.close();
    expect(store.calls.close).toBe(1);
  });

  it('works on a gatekeeper that never started', async () => {
    const nodes = cluster();
    const { gatekeeper } = nodes.unstarted({ definitions: [JOB] });
    await gatekeeper.close();
    expect(nodes.time.pending).toBe(0);
  });

  it('gives back what is held after a run, so that others need not wait for it', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    await one.gatekeeper.run('job', () => 1);
    await one.gatekeeper.close();
    expect(await other.gatekeeper.tryAcquire('job')).toBeDefined();
  });

  it('gives back what waits for its atLeastFor', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    await gatekeeper.run('job', () => 1, { atLeastFor: '5s' });
    await gatekeeper.close();
    expect((await nodes.record()).permits).toEqual([]);
    expect(nodes.time.pending).toBe(0);
  });

  it('waits for a run that goes on, keeps its permit meanwhile, and gives it back afterwards', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node({ shutdownGrace: '1m' }), await nodes.node()];
    const { work, end } = openEnd();
    let permit!: RunPermit;
    const running = one.gatekeeper.run('job', (given) => ((permit = given), work()));
    await settled();
    const closing = one.gatekeeper.close();
    await nodes.time.advance(30_000);
    expect(await outcomeOf(closing)).toBe('pending');
    expect(permit.isHeld).toBe(true);
    end();
    expect(await running).toEqual({ executed: true, value: undefined });
    await closing;
    expect(await other.gatekeeper.tryAcquire('job')).toBeDefined();
  });

  it('begins no new run while it waits', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    const { work, end } = openEnd();
    const running = gatekeeper.run('job', work);
    await settled();
    const closing = gatekeeper.close();
    expect(await gatekeeper.run('job', () => 2, { job: 'another' })).toEqual({ executed: false, reason: 'closing' });
    expect(await gatekeeper.tryAcquire('job')).toBeUndefined();
    end();
    await Promise.all([running, closing]);
  });

  it.each([
    ['while the grace goes on', '10s', 0],
    ['after it, while definitions are saved', '1s', 1],
    ['after it', '1s', 0],
  ])('begins no run whose permit comes %s', async (_when, shutdownGrace, saves) => {
    const nodes = cluster();
    const { work: answered, end: answer } = openEnd();
    const archive = new ScriptedArchive();
    archive.script = (call) => (call === 'save' ? answered() : undefined);
    const { persistence } = archive;
    const [one, other] = [await nodes.node({ shutdownGrace, persistence }), await nodes.node()];
    if (saves > 0) await other.gatekeeper.definitions.define({ name: 'another', duration: '10s' });
    one.store.script = async (call, go) => {
      if (call === 'compareAndSet') await answered();
      return go();
    };
    let hasBegun = false;
    const running = one.gatekeeper.run('job', () => (hasBegun = true), { onUnavailable: 'run' });
    await settled();
    const closing = one.gatekeeper.close();
    await nodes.time.advance(1500);
    answer();
    await nodes.time.advance(500);
    expect(await running).toEqual({ executed: false, reason: 'closing' });
    await closing;
    expect(hasBegun).toBe(false);
    await nodes.time.advance(10_600);
    expect(await other.gatekeeper.tryAcquire('job')).toBeDefined();
    await other.gatekeeper.close();
    expect(nodes.time.pending).toBe(0);
  });

  it('does not run unguarded either: a node that shuts down is no store that is out of reach', async () => {
    const { gatekeeper } = await cluster().node();
    await gatekeeper.close();
    const result = await gatekeeper.run('job', () => 2, { onUnavailable: 'run' });
    expect(result).toEqual({ executed: false, reason: 'closing' });
  });

  it('denies at once what waits for the birth of the cluster', async () => {
    const nodes = cluster();
    const { gatekeeper } = nodes.unstarted({ definitions: [JOB], definitionsDelay: '5s' });
    await gatekeeper.start();
    const short = { duration: '10s' };
    const running = gatekeeper.run('x', () => 1, short);
    const trying = gatekeeper.tryAcquire('x', short);
    const waiting = gatekeeper.acquire('x', short).catch((error: Error) => error.message);
    const job = gatekeeper.run('job', () => 1);
    await nodes.time.advance(100);
    const closing = gatekeeper.close();
    await nodes.time.advance(500);
    expect(await outcomeOf(closing)).toEqual({ value: undefined });
    expect(await running).toEqual({ executed: false, reason: 'closing' });
    expect(await job).toEqual({ executed: false, reason: 'closing' });
    expect(await trying).toBeUndefined();
    expect(await waiting).toContain('last denied with closing');
  });

  it('tells a run that outlives shutdownGrace, and leaves its permit to expire', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node({ shutdownGrace: '3s' }), await nodes.node()];
    const { work, end } = openEnd();
    let signal!: AbortSignal;
    const running = one.gatekeeper.run('job', (given) => ((signal = given.signal), work()));
    await settled();
    const closing = one.gatekeeper.close();
    await nodes.time.advance(3000);
    await closing;
    expect(signal.reason).toBeInstanceOf(PermitLostError);
    expect(signal.reason).toMatchObject({ reason: 'closing' });
    expect(one.of('lost')).toMatchObject([{ reason: 'closing' }]);
    expect(await other.gatekeeper.tryAcquire('job')).toBeUndefined();
    await nodes.time.advance(10_600);
    expect(await other.gatekeeper.tryAcquire('job')).toBeDefined();
    end();
    await running;
  });

  describe('gives permits back before its grace is over', () => {
    const permits = async (nodes: ReturnType<typeof cluster>, name = 'job') => (await nodes.record(name)).permits;

    it('at once where the work has ended, though another run goes on', async () => {
      const nodes = cluster();
      const definitions = [JOB, { ...JOB, name: 'other' }];
      const { gatekeeper } = await nodes.node({ shutdownGrace: '1m', definitions });
      await gatekeeper.run('job', () => 1);
      const { work, end } = openEnd();
      const running = gatekeeper.run('other', work);
      await settled();
      const draining = gatekeeper.drain();
      await nodes.time.advance(100);
      expect(await permits(nodes)).toEqual([]);
      expect(await permits(nodes, 'other')).toHaveLength(1);
      end();
      await running;
      await settled();
      expect(await permits(nodes, 'other')).toEqual([]);
      await draining;
      await gatekeeper.close();
    });

    it('when a run ends after its signal has aborted, and says that it was cut', async () => {
      const nodes = cluster();
      const { gatekeeper, of } = await nodes.node({ shutdownGrace: '3s' });
      const obedient = ({ signal }: RunPermit) =>
        new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      const running = gatekeeper.run('job', obedient, { job: 'Jobs.export' });
      await settled();
      const closing = gatekeeper.close();
      await nodes.time.advance(3000);
      await Promise.all([closing, running]);
      expect(of('lost')).toMatchObject([{ reason: 'closing' }]);
      expect(of('run-finished')).toMatchObject([{ job: 'Jobs.export', loss: 'closing' }]);
      expect(await permits(nodes)).toEqual([]);
    });

    it('but never under work that goes on, also not one that maxRunTime has cut', async () => {
      const nodes = cluster();
      const { gatekeeper } = await nodes.node({ shutdownGrace: '3s' });
      const { work, end } = openEnd();
      const running = gatekeeper.run('job', work, { maxRunTime: '2s' });
      await nodes.time.advance(2500);
      const closing = gatekeeper.close();
      await nodes.time.advance(3000);
      await closing;
      expect(await permits(nodes)).toHaveLength(1);
      end();
      await running;
    });

    it('only when all runs that share one have ended', async () => {
      const nodes = cluster();
      const { gatekeeper } = await nodes.node({ shutdownGrace: '3s' });
      const [one, other] = [openEnd(), openEnd()];
      const runs = [one, other].map(({ work }, index) => gatekeeper.run('job', work, { job: `Jobs.${index}` }));
      await settled();
      const closing = gatekeeper.close();
      await nodes.time.advance(2850);
      one.end();
      await runs[0];
      await settled();
      expect(await permits(nodes)).toHaveLength(1);
      other.end();
      await runs[1];
      await settled();
      expect(await permits(nodes)).toEqual([]);
      await closing;
    });
  });

  it('waits for the grace once, though Nest drains first and closes then', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node({ shutdownGrace: '3s' });
    void gatekeeper.run('job', () => new Promise(() => undefined));
    await settled();
    const draining = gatekeeper.drain();
    await nodes.time.advance(3000);
    await draining;
    expect(await outcomeOf(gatekeeper.close())).toEqual({ value: undefined });
  });

  it('ends in time though the store is away', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    await gatekeeper.run('job', () => 1);
    store.script = () => new Promise(() => undefined);
    const closing = gatekeeper.close();
    await nodes.time.advance(2000);
    expect(await outcomeOf(closing)).toEqual({ value: undefined });
  });

  it('has no error when the store is away', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    await gatekeeper.run('job', () => 1);
    store.script = () => Promise.reject(new StoreUnavailableError('away'));
    await gatekeeper.close();
    await nodes.time.advance(60_000);
    expect(nodes.time.pending).toBe(0);
  });

  it('closes the store, without an error, though the watch can not be ended', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = nodes.unstarted();
    store.watch = async () => () => Promise.reject(new StoreUnavailableError('not connected'));
    await gatekeeper.start();
    await gatekeeper.close();
    expect(store.calls.close).toBe(1);
  });

  it('completes events$', async () => {
    const { gatekeeper } = await cluster().node();
    let isComplete = false;
    gatekeeper.events$.subscribe({ complete: () => (isComplete = true) });
    await gatekeeper.close();
    expect(isComplete).toBe(true);
  });
});
