import { InvalidOptionsError, type Skipped, UnknownSemaphoreError } from 'nestjs-gatekeeper';
import { START, settled } from '../../../support/fake-time.js';
import { JOB, openEnd, useCluster } from '../../../support/nodes.js';
import { removed } from '../../../support/removed.js';

describe('run', () => {
  const cluster = useCluster();

  it('gives what the work gives, also when that is no promise', async () => {
    const { gatekeeper } = await cluster().node();
    expect(await gatekeeper.run('job', () => 7)).toEqual({ executed: true, value: 7 });
    expect(await gatekeeper.run('job', async () => 'done')).toEqual({ executed: true, value: 'done' });
  });

  it('keeps what a run left to be held, though another use was being given back when the run joined it', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    const permit = (await one.gatekeeper.tryAcquire('job'))!;
    const [writing, reading] = [openEnd(), openEnd()];
    one.store.script = async (call, go) => {
      await (call === 'compareAndSet' ? writing.work() : reading.work());
      return go();
    };
    const running = one.gatekeeper.run('job', () => 1);
    await settled();
    // Waits behind the run's refresh; when its turn comes the run uses the permit, and when it has read it no longer does.
    const releasing = permit.release();
    writing.end();
    expect(await running).toEqual({ executed: true, value: 1 });
    reading.end();
    await releasing;
    expect((await nodes.record()).permits).toHaveLength(1);
    expect(await other.gatekeeper.tryAcquire('job')).toBeUndefined();
  });

  it('throws what the work throws, and keeps the permit all the same', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    const fault = new Error('disk full');
    await expect(one.gatekeeper.run('job', () => Promise.reject(fault))).rejects.toBe(fault);
    await expect(
      one.gatekeeper.run('job', () => {
        throw fault;
      }),
    ).rejects.toBe(fault);
    expect(one.of('run-finished').map(({ error }) => error)).toEqual([fault, fault]);
    expect(await other.gatekeeper.run('job', () => 1)).toEqual({ executed: false, reason: 'no-permit' });
  });

  it('tells of all that happens, in order', async () => {
    const nodes = cluster();
    const { gatekeeper, events } = await nodes.node();
    await gatekeeper.run('job', () => nodes.time.freeze(250), { job: 'Jobs.export', atLeastFor: 0 });
    const stored = expect.objectContaining({ slot: 0, token: START * 1024 });
    expect(events).toEqual([
      { type: 'defined', semaphore: 'job', revision: 1 },
      { type: 'granted', semaphore: 'job', permit: stored },
      { type: 'run-started', semaphore: 'job', job: 'Jobs.export', run: 1, permit: stored },
      { type: 'run-finished', semaphore: 'job', job: 'Jobs.export', run: 1, permit: stored, took: 250 },
      { type: 'released', semaphore: 'job', permit: stored },
    ]);
  });

  it('holds the permit after the run until it expires', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    await one.gatekeeper.run('job', () => 1);
    await nodes.time.advance(10_400);
    expect(await other.gatekeeper.run('job', () => 2)).toEqual({ executed: false, reason: 'no-permit' });
    await nodes.time.advance(200);
    expect(await other.gatekeeper.run('job', () => 2)).toEqual({ executed: true, value: 2 });
  });

  it('does not let another use give back what a run holds', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    await one.gatekeeper.run('job', () => 1, { job: 'that holds' });
    await one.gatekeeper.run('job', () => 1, { job: 'that does not', atLeastFor: 0 });
    await (await one.gatekeeper.tryAcquire('job'))!.release();
    expect(await other.gatekeeper.run('job', () => 2)).toEqual({ executed: false, reason: 'no-permit' });
    await nodes.time.advance(10_600);
    expect(await other.gatekeeper.run('job', () => 2)).toEqual({ executed: true, value: 2 });
  });

  it('releases after the run with atLeastFor: 0', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    await one.gatekeeper.run('job', () => 1, { atLeastFor: 0 });
    expect(await other.gatekeeper.run('job', () => 2, { atLeastFor: 0 })).toEqual({ executed: true, value: 2 });
  });

  it('releases no earlier than atLeastFor after the start of the run', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    const running = one.gatekeeper.run('job', openAfter(nodes.time, 1000), { atLeastFor: '3s' });
    await nodes.time.advance(1000);
    await running;
    await nodes.time.advance(1999);
    expect(await other.gatekeeper.tryAcquire('job')).toBeUndefined();
    await nodes.time.advance(1);
    expect(await other.gatekeeper.tryAcquire('job')).toBeDefined();
  });

  it('releases at once when the run took longer than atLeastFor', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    const running = one.gatekeeper.run('job', openAfter(nodes.time, 4000), { atLeastFor: '3s' });
    await nodes.time.advance(4000);
    await running;
    expect(await other.gatekeeper.tryAcquire('job')).toBeDefined();
  });

  it('does not begin a run while the former one of the same job goes on', async () => {
    const { gatekeeper } = await cluster().node();
    const { work, end, started } = openEnd();
    const first = gatekeeper.run('job', work);
    await started;
    expect(await gatekeeper.run('job', () => 2)).toEqual({ executed: false, reason: 'overlap' });
    end();
    await first;
    expect(await gatekeeper.run('job', () => 3)).toEqual({ executed: true, value: 3 });
  });

  it('does not begin two runs of one job that are asked for in the same turn', async () => {
    const { gatekeeper } = await cluster().node();
    const results = await Promise.all([gatekeeper.run('job', () => 1), gatekeeper.run('job', () => 2)]);
    expect(results).toEqual([
      { executed: true, value: 1 },
      { executed: false, reason: 'overlap' },
    ]);
  });

  it('runs beside a run of another holder, which has a permit of its own', async () => {
    const { gatekeeper } = await cluster().node({ definitions: [{ ...JOB, permits: 2 }] });
    const slots = ['a', 'b', 'c'].map((holder) => gatekeeper.run('job', ({ slot }) => slot, { holder }));
    expect(await Promise.all(slots)).toEqual([
      { executed: true, value: 0 },
      { executed: true, value: 1 },
      { executed: false, reason: 'no-permit' },
    ]);
  });

  it('runs beside the former run with overlap: allow, or under another job', async () => {
    const { gatekeeper } = await cluster().node();
    const { work, end, started } = openEnd();
    const first = gatekeeper.run('job', work);
    await started;
    expect(await gatekeeper.run('job', () => 2, { overlap: 'allow' })).toEqual({ executed: true, value: 2 });
    expect(await gatekeeper.run('job', () => 3, { job: 'another' })).toEqual({ executed: true, value: 3 });
    end();
    await first;
  });

  it('tells onSkip what was skipped and why', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    await one.gatekeeper.run('job', () => 1);
    const skipped: Skipped[] = [];
    await other.gatekeeper.run('job', () => 2, { job: 'Jobs.export', onSkip: (skip) => void skipped.push(skip) });
    expect(skipped).toEqual([{ semaphore: 'job', job: 'Jobs.export', reason: 'no-permit' }]);
  });

  it.each([
    ['throws', () => raise(new Error('oops'))],
    ['rejects', () => Promise.reject(new Error('oops'))],
  ])('is skipped all the same when onSkip %s, and tells of that', async (_, onSkip) => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    await one.gatekeeper.run('job', () => 1);
    expect(await other.gatekeeper.run('job', () => 2, { onSkip })).toEqual({ executed: false, reason: 'no-permit' });
    await settled();
    expect(other.of('problem')).toMatchObject([{ semaphore: 'job', action: 'onSkip', error: { message: 'oops' } }]);
  });

  it('logs a skipped run at debug and nowhere else', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    await one.gatekeeper.run('job', () => 1);
    other.log.length = 0;
    await other.gatekeeper.run('job', () => 2, { job: 'Jobs.export' });
    expect(other.log).toEqual(['debug "job": skipped Jobs.export (no-permit)']);
  });

  it('throws for an undefined semaphore: a misspelt name must not look like a denial', async () => {
    const { gatekeeper } = await cluster().node();
    await expect(gatekeeper.run('typo', () => 1)).rejects.toThrow(UnknownSemaphoreError);
  });

  it('is skipped, without an error, once an operator removed the definition', async () => {
    const { gatekeeper } = await cluster().node();
    await removed(gatekeeper, 'job');
    expect(await gatekeeper.run('job', () => 1)).toEqual({ executed: false, reason: 'no-definition' });
  });

  it.each([
    ['keepAlive', { keepAlive: 'no' as never }, '"no"'],
    ['atLeastFor', { atLeastFor: -5 }, '-5'],
    ['keepAlive', { keepAlive: 1 as never }, '1'],
    ['maxRunTime', { maxRunTime: 'ever' }, '"ever"'],
    ['overlap', { overlap: 'queue' as never }, '"queue" is not "skip" or "allow"'],
    ['onUnavailable', { onUnavailable: 'wait' as never }, '"wait" '],
    ['onSkip', { onSkip: 'log' as never }, '"log" is not a function'],
  ])('names the option %s that it can not use, and its value', async (field, options, value) => {
    const { gatekeeper } = await cluster().node();
    const error = (await gatekeeper.run('job', () => 1, options).catch((fault: Error) => fault)) as Error;
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error.message).toContain(`${field}: `);
    expect(error.message).toContain(value);
  });
});

function openAfter(time: { schedule(action: () => void, delay: number): unknown }, ms: number) {
  return () => new Promise<void>((resolve) => void time.schedule(resolve, ms));
}

function raise(error: Error): never {
  throw error;
}
