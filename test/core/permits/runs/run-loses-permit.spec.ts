import { PermitLostError, type RunPermit } from 'nestjs-gatekeeper';
import { openEnd, useCluster } from '../../../support/nodes.js';

describe('a run that takes longer than its permit', () => {
  const cluster = useCluster();

  it('keeps it: the permit is refreshed every third of its duration', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    const { work, end } = openEnd();
    const running = one.gatekeeper.run('job', work);
    await nodes.time.advance(60_000);
    expect(await other.gatekeeper.tryAcquire('job')).toBeUndefined();
    expect(one.of('refreshed').length).toBeGreaterThanOrEqual(17);
    expect(one.of('lost')).toEqual([]);
    end();
    await running;
  });

  it('keeps it no longer than it goes on', async () => {
    const nodes = cluster();
    const { gatekeeper, of } = await nodes.node();
    await gatekeeper.run('job', () => 1);
    await nodes.time.advance(10_000);
    expect(of('refreshed')).toEqual([]);
  });

  it('loses it with keepAlive: false, and learns it before another holder can have it', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    const { work, end } = openEnd();
    let permit!: RunPermit;
    const running = one.gatekeeper.run('job', (given) => ((permit = given), void given.signal, work()), {
      keepAlive: false,
    });
    await nodes.time.advance(9499);
    expect(permit.signal.aborted).toBe(false);
    await nodes.time.advance(1);
    expect(permit.signal).toMatchObject({ aborted: true, reason: { code: 'permit-lost', reason: 'expired' } });
    expect(await other.gatekeeper.tryAcquire('job')).toBeUndefined();
    end();
    await running;
  });

  it('loses it after maxRunTime, and the permit runs out by itself', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    const { work, end } = openEnd();
    let permit!: RunPermit;
    const running = one.gatekeeper.run('job', (given) => ((permit = given), work()), { maxRunTime: '15s' });
    await nodes.time.advance(14_999);
    expect(permit.isHeld).toBe(true);
    const { signal } = permit;
    await nodes.time.advance(1);
    expect(signal.reason).toBeInstanceOf(PermitLostError);
    expect(signal.reason).toMatchObject({ reason: 'max-run-time' });
    expect(() => permit.assertHeld()).toThrow(expect.objectContaining({ code: 'permit-lost', reason: 'max-run-time' }));
    expect(one.of('lost')).toMatchObject([{ semaphore: 'job', reason: 'max-run-time' }]);
    expect(await other.gatekeeper.tryAcquire('job')).toBeUndefined();
    await nodes.time.advance(10_000);
    expect(await other.gatekeeper.tryAcquire('job')).toBeDefined();
    end();
    await running;
  });

  it('learns only once that it lost its permit', async () => {
    const nodes = cluster();
    const { gatekeeper, of } = await nodes.node();
    const { work, end } = openEnd();
    const running = gatekeeper.run('job', work, { keepAlive: false, maxRunTime: '12s' });
    await nodes.time.advance(20_000);
    expect(of('lost')).toMatchObject([{ reason: 'expired' }]);
    end();
    await running;
  });

  it('does not lose what a shorter run under the same permit gives back', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    const { work, end, started } = openEnd();
    let permit!: RunPermit;
    const long = gatekeeper.run('job', (given) => ((permit = given), work()), { job: 'long', atLeastFor: 0 });
    await started;
    await gatekeeper.run('job', () => 1, { job: 'short', atLeastFor: 0 });
    await nodes.time.advance(30_000);
    expect(permit.isHeld).toBe(true);
    end();
    await long;
    expect((await nodes.record()).permits).toEqual([]);
  });
});
