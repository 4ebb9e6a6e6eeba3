import {
  RunSkippedError,
  type RunOptions,
  type Skipped,
  StoreUnavailableError,
  UnknownSemaphoreError,
} from 'nestjs-gatekeeper';
import { settled } from '../../../support/fake-time.js';
import { type TestNode, outcomeOf, openEnd, useCluster } from '../../../support/nodes.js';

const NAMED = { job: 'Jobs.consume' };

/** A run on one node that goes on until the test ends it, and another node. */
async function busy(cluster: ReturnType<typeof useCluster>, options: RunOptions = { atLeastFor: 0 }) {
  const nodes = cluster();
  const [one, other] = [await nodes.node(), await nodes.node()];
  const { work, end, started } = openEnd();
  const first = one.gatekeeper.run('job', work, { ...NAMED, ...options });
  await started;
  return { nodes, one, other, first, end };
}

const skips = ({ of }: TestNode) => of('run-skipped').map(({ reason }) => reason);

describe("a run with onSkip: 'throw'", () => {
  const cluster = useCluster();

  it('throws when it is skipped, and says of which job, for what reason, and what to do', async () => {
    const { other } = await busy(cluster);
    const run = other.gatekeeper.run('job', () => 2, { ...NAMED, onSkip: 'throw' });
    const error = (await run.catch((fault: Error) => fault)) as RunSkippedError;
    expect(error).toBeInstanceOf(RunSkippedError);
    expect(error).toMatchObject({ code: 'run-skipped', semaphore: 'job', job: 'Jobs.consume', reason: 'no-permit' });
    expect(error.message).toBe(
      'Jobs.consume did not run: all permits of semaphore "job" are held (no-permit). Nothing of it was done: run it again later',
    );
    expect(skips(other)).toEqual(['no-permit']);
  });

  it('throws for an overlap, too', async () => {
    const { one } = await busy(cluster);
    const run = one.gatekeeper.run('job', () => 2, { ...NAMED, onSkip: 'throw' });
    await expect(run).rejects.toMatchObject({ code: 'run-skipped', reason: 'overlap' });
  });

  it('has the error of a store that can not be asked as its cause', async () => {
    const { gatekeeper, store } = await cluster().node();
    const away = new StoreUnavailableError('away');
    store.script = () => Promise.reject(away);
    const error = (await gatekeeper.run('job', () => 2, { onSkip: 'throw' }).catch((fault: Error) => fault)) as Error;
    expect(error).toMatchObject({ code: 'run-skipped', reason: 'unavailable' });
    expect(error.cause).toBe(away);
  });

  it('still throws UnknownSemaphoreError for an undefined name', async () => {
    const { gatekeeper } = await cluster().node();
    await expect(gatekeeper.run('typo', () => 1, { onSkip: 'throw' })).rejects.toThrow(UnknownSemaphoreError);
    await expect(gatekeeper.run('typo', () => 1, { wait: '1s' })).rejects.toThrow(UnknownSemaphoreError);
  });

  it('gives what the work gives, and throws what the work throws, when it is not skipped', async () => {
    const { gatekeeper } = await cluster().node();
    expect(await gatekeeper.run('job', () => 7, { onSkip: 'throw' })).toEqual({ executed: true, value: 7 });
    const fault = new Error('disk full');
    await expect(gatekeeper.run('job', () => Promise.reject(fault), { onSkip: 'throw' })).rejects.toBe(fault);
  });
});

describe('a run with wait', () => {
  const cluster = useCluster();

  it('runs as soon as the permit of another node is given back', async () => {
    const { nodes, other, first, end } = await busy(cluster);
    const waiting = other.gatekeeper.run('job', () => 2, { wait: '30s' });
    await nodes.time.advance(20_000);
    expect(await outcomeOf(waiting)).toBe('pending');
    end();
    await first;
    await nodes.time.advance(50);
    expect(await outcomeOf(waiting)).toEqual({ value: { executed: true, value: 2 } });
    expect(skips(other)).toEqual([]);
  });

  it('is skipped when the time is over, once, with the reason of the last denial', async () => {
    const { nodes, other } = await busy(cluster);
    const told: Skipped[] = [];
    const onSkip = (skipped: Skipped) => void told.push(skipped);
    const waiting = other.gatekeeper.run('job', () => 2, { ...NAMED, wait: '3s', onSkip });
    await nodes.time.advance(2000);
    await other.gatekeeper.definitions.pause('job');
    await nodes.time.advance(999);
    expect(await outcomeOf(waiting)).toBe('pending');
    await nodes.time.advance(1);
    expect(await outcomeOf(waiting)).toEqual({ value: { executed: false, reason: 'paused' } });
    expect(told).toEqual([{ semaphore: 'job', job: 'Jobs.consume', reason: 'paused' }]);
    expect(skips(other)).toEqual(['paused']);
  });

  it('throws when the time is over and onSkip says so', async () => {
    const { nodes, other } = await busy(cluster);
    const waiting = other.gatekeeper.run('job', () => 2, { wait: '3s', onSkip: 'throw' });
    const caught = waiting.catch((error: Error) => error);
    await nodes.time.advance(3000);
    expect(await caught).toMatchObject({ code: 'run-skipped', reason: 'no-permit' });
  });

  it('gives the permit back after the run, so that the next one need not wait out its duration', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    await one.gatekeeper.run('job', () => 1, { wait: '1s' });
    expect(await other.gatekeeper.run('job', () => 2, { wait: '1s' })).toEqual({ executed: true, value: 2 });
  });

  it('keeps the permit for atLeastFor where that is given', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    await one.gatekeeper.run('job', () => 1, { wait: '1s', atLeastFor: '4s' });
    const waiting = other.gatekeeper.run('job', () => 2, { wait: '30s' });
    await nodes.time.advance(3900);
    expect(await outcomeOf(waiting)).toBe('pending');
    await nodes.time.advance(150);
    expect(await outcomeOf(waiting)).toEqual({ value: { executed: true, value: 2 } });
  });

  it('does not wait, and keeps the permit after the run, with wait: 0', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    await one.gatekeeper.run('job', () => 1, { wait: 0 });
    expect(await outcomeOf(other.gatekeeper.run('job', () => 2, { wait: 0 }))).toEqual({
      value: { executed: false, reason: 'no-permit' },
    });
  });

  it('refreshes its permit only from when it has one', async () => {
    const { nodes, other, first, end } = await busy(cluster);
    const own = openEnd<number>();
    const waiting = other.gatekeeper.run('job', own.work, { wait: '30s', duration: '3s' });
    end();
    await first;
    await nodes.time.advance(20_000);
    expect(other.of('refreshed').length).toBeGreaterThan(5);
    own.end(2);
    expect(await waiting).toEqual({ executed: true, value: 2 });
  });

  it('runs without a permit only after it has waited, where onUnavailable says so', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    await store.close();
    const waiting = gatekeeper.run('job', ({ isGuarded }) => isGuarded, { wait: '3s', onUnavailable: 'run' });
    await nodes.time.advance(2999);
    expect(await outcomeOf(waiting)).toBe('pending');
    await nodes.time.advance(1);
    expect(await outcomeOf(waiting)).toEqual({ value: { executed: true, value: false } });
  });

  it('is skipped at once when the node shuts down', async () => {
    const { other } = await busy(cluster);
    const waiting = other.gatekeeper.run('job', () => 2, { wait: '30s' });
    await settled();
    const draining = other.gatekeeper.drain();
    expect(await outcomeOf(waiting)).toEqual({ value: { executed: false, reason: 'closing' } });
    await draining;
  });

  describe('while the former run of its job in this process goes on', () => {
    it('waits for that to end, first come, first served, and never runs beside another', async () => {
      const { nodes, one, first, end } = await busy(cluster);
      const order: number[] = [];
      const [second, third] = [openEnd(), openEnd()];
      const next = [second, third].map(({ work }, index) =>
        one.gatekeeper.run('job', () => (order.push(index + 2), work()), { ...NAMED, wait: '30s' }),
      );
      await nodes.time.advance(5000);
      expect(order).toEqual([]);
      end();
      await first;
      await nodes.time.advance(50);
      expect(order).toEqual([2]);
      second.end();
      await nodes.time.advance(50);
      expect(order).toEqual([2, 3]);
      third.end();
      expect(await Promise.all(next)).toMatchObject([{ executed: true }, { executed: true }]);
    });

    it('is skipped for the overlap when the time is over', async () => {
      const { nodes, one } = await busy(cluster);
      const waiting = one.gatekeeper.run('job', () => 2, { ...NAMED, wait: '3s' });
      await nodes.time.advance(2999);
      expect(await outcomeOf(waiting)).toBe('pending');
      await nodes.time.advance(1);
      expect(await outcomeOf(waiting)).toEqual({ value: { executed: false, reason: 'overlap' } });
    });

    it('waits no longer than `wait` in all: for the former run and for the permit', async () => {
      const { nodes, one, other, first, end } = await busy(cluster);
      const theirs = openEnd();
      const ahead = other.gatekeeper.run('job', theirs.work, { wait: '30s' });
      const waiting = one.gatekeeper.run('job', () => 2, { ...NAMED, wait: '3s' });
      await nodes.time.advance(1000);
      await one.gatekeeper.definitions.edit('job', { acquirerPattern: 'app2' });
      end();
      await first;
      await nodes.time.advance(1999);
      expect(await outcomeOf(waiting)).toBe('pending');
      await nodes.time.advance(1);
      expect(await outcomeOf(waiting)).toEqual({ value: { executed: false, reason: 'acquirer' } });
      theirs.end();
      await ahead;
    });

    it('is skipped at once when the node shuts down', async () => {
      const { nodes, one, first, end } = await busy(cluster);
      const waiting = one.gatekeeper.run('job', () => 2, { ...NAMED, wait: '30s' });
      await settled();
      const draining = one.gatekeeper.drain();
      expect(await outcomeOf(waiting)).toEqual({ value: { executed: false, reason: 'closing' } });
      end();
      await first;
      await draining;
      expect(nodes).toBeDefined();
    });

    it('runs beside it with overlap: allow, and shares its permit', async () => {
      const { one, first, end } = await busy(cluster);
      const beside = one.gatekeeper.run('job', () => 2, { ...NAMED, wait: '30s', overlap: 'allow' });
      expect(await outcomeOf(beside)).toEqual({ value: { executed: true, value: 2 } });
      end();
      await first;
    });

    it('still skips at once a run that does not wait', async () => {
      const { one } = await busy(cluster);
      void one.gatekeeper.run('job', () => 2, { ...NAMED, wait: '30s' });
      const skipped = { value: { executed: false, reason: 'overlap' } };
      expect(await outcomeOf(one.gatekeeper.run('job', () => 3, NAMED))).toEqual(skipped);
    });
  });

  it.each([
    ['wait', { wait: 'soon' }, '"soon"'],
    ['onSkip', { onSkip: 'log' as never }, '"log" is not a function or "throw"'],
  ])('names the option %s that it can not use, and its value', async (field, options, fault) => {
    const { gatekeeper } = await cluster().node();
    await expect(gatekeeper.run('job', () => 1, options)).rejects.toThrow(`${field}: ${fault}`);
  });
});

describe('a run that calls its own job', () => {
  const cluster = useCluster();

  it.each([
    ['at once', {}],
    ['at once although it may wait', { wait: '1h' }],
  ] as const)('is skipped %s, instead of waiting for its own end', async (_, wait) => {
    const { one, nodes } = await idle();
    const again = () => one.gatekeeper.run('job', () => 1, { ...NAMED, ...wait });
    expect(await one.gatekeeper.run('job', again, NAMED)).toEqual({
      executed: true,
      value: { executed: false, reason: 'own-run' },
    });
    expect(nodes.time.monotonic()).toBe(0);
    expect(skips(one)).toEqual(['own-run']);
  });

  it('is skipped also by way of another job, and says what to do', async () => {
    const { one } = await idle();
    const first = () => one.gatekeeper.run('job', () => 1, { ...NAMED, wait: '1h', onSkip: 'throw' });
    const second = () => one.gatekeeper.run('other', first, { duration: '1m' });
    const error = await one.gatekeeper.run('job', second, NAMED).catch((fault: Error) => fault);
    expect(error).toMatchObject({ code: 'run-skipped', job: 'Jobs.consume', reason: 'own-run' });
    expect((error as Error).message).toContain('would wait for its own end: call the work without the guard');
  });

  it('runs if its runs may overlap, and if it has another name, another holder or another semaphore', async () => {
    const { one } = await idle();
    for (const [name, options] of [
      ['job', { ...NAMED, overlap: 'allow' }],
      ['job', { job: 'Jobs.other' }],
      ['other', { ...NAMED, duration: '1m' }],
      ['elsewhere', { ...NAMED, holder: 'me', duration: '1m' }],
    ] as const) {
      const again = () => one.gatekeeper.run(name, () => 1, options);
      expect(await one.gatekeeper.run('job', again, NAMED)).toMatchObject({ value: { executed: true } });
    }
  });

  it('waits as any other run when the run is over from which its timer comes', async () => {
    const { one, nodes } = await idle();
    let later!: Promise<unknown>;
    const { work, end, started } = openEnd();
    const leaveTimer = () => {
      nodes.time.schedule(() => (later = one.gatekeeper.run('job', () => 2, { ...NAMED, wait: '1h' })), 10);
    };
    await one.gatekeeper.run('job', leaveTimer, { ...NAMED, atLeastFor: 0 });
    const second = one.gatekeeper.run('job', work, { ...NAMED, atLeastFor: 0 });
    await started;
    await nodes.time.advance(10);
    end();
    await second;
    expect(await later).toEqual({ executed: true, value: 2 });
  });

  async function idle() {
    const nodes = cluster();
    return { nodes, one: await nodes.node() };
  }
});
