import { PermitLostError, StoreUnavailableError } from 'nestjs-gatekeeper';
import { settled } from '../../support/fake-time.js';
import { JOB, useCluster } from '../../support/nodes.js';
import { removed } from '../../support/removed.js';

describe('the end of a lease', () => {
  const cluster = useCluster();

  async function holding(options: { keepAlive?: boolean } = {}) {
    const nodes = cluster();
    const [holder, other] = [await nodes.node(), await nodes.node()];
    const permit = (await holder.gatekeeper.tryAcquire('job', options))!;
    return { nodes, time: nodes.time, holder, other, permit, signal: permit.signal };
  }

  it('comes clockTolerance earlier for the holder than for the store, and as much later for a taker', async () => {
    const { time, other, permit, signal } = await holding();
    await time.advance(9499);
    expect([permit.isHeld, signal.aborted]).toEqual([true, false]);
    await time.advance(1);
    expect([permit.isHeld, signal.aborted]).toEqual([false, true]);
    await time.advance(999);
    expect(await other.gatekeeper.tryAcquire('job')).toBeUndefined();
    await time.advance(1);
    expect(await other.gatekeeper.tryAcquire('job')).toBeDefined();
  });

  it('is reported by an event and by the reason of the signal', async () => {
    const { time, holder, permit, signal } = await holding();
    await time.advance(9500);
    expect(signal.reason).toBeInstanceOf(PermitLostError);
    expect(signal.reason).toMatchObject({ code: 'permit-lost', semaphore: 'job', reason: 'expired' });
    expect(holder.of('lost')).toMatchObject([{ semaphore: 'job', reason: 'expired', permit: { id: permit.id } }]);
    expect(holder.log).toContainEqual(
      expect.stringMatching(/^warn "job": slot 0 was lost while it was in use: it could not be renewed in time$/),
    );
  });

  it('counts from before the request was sent', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    store.script = async (call, go) => {
      if (call === 'compareAndSet') nodes.time.freeze(1000);
      return go();
    };
    expect((await gatekeeper.tryAcquire('job'))!.remaining).toBe(8500);
  });

  it('is seen at once by a process that was frozen, before any timer runs', async () => {
    const { time, permit } = await holding();
    time.freeze(60_000);
    expect(() => permit.assertHeld()).toThrow(PermitLostError);
    expect(permit.signal.aborted).toBe(true);
    expect(permit.remaining).toBe(0);
  });

  it('comes when the wall clock jumps ahead: the machine may have slept', async () => {
    const { time, permit } = await holding();
    time.jumpWall(60_000);
    expect(permit.isHeld).toBe(false);
    expect(permit.signal.aborted).toBe(true);
  });

  it('is reported within a second of such a jump to code that only listens', async () => {
    const { time, signal } = await holding();
    time.jumpWall(60_000);
    await time.advance(1000);
    expect(signal.aborted).toBe(true);
  });

  it('is final after a jump of the wall clock: the keep-alive revives nothing', async () => {
    const { nodes, time, holder, signal } = await holding({ keepAlive: true });
    time.jumpWall(60_000);
    await time.advance(3400);
    expect(signal.aborted).toBe(true);
    expect(holder.of('refreshed')).toEqual([]);
    expect((await nodes.record()).permits).toHaveLength(1);
  });

  it('does not move when the wall clock jumps back', async () => {
    const { time, permit, signal } = await holding();
    time.jumpWall(-3_600_000);
    await time.advance(9499);
    expect([permit.isHeld, permit.remaining]).toEqual([true, 1]);
    await time.advance(1);
    expect(signal.aborted).toBe(true);
  });

  it('comes at once when an operator revokes the permit', async () => {
    const { holder, other, permit, signal } = await holding();
    expect(await other.gatekeeper.definitions.revoke('job', permit.id)).toBe(true);
    await settled();
    expect(signal).toMatchObject({ aborted: true, reason: { reason: 'revoked' } });
    expect(holder.of('lost')).toMatchObject([{ reason: 'revoked' }]);
    expect(await other.gatekeeper.tryAcquire('job')).toBeDefined();
  });

  it('comes when an operator removes the definition', async () => {
    const { other, signal } = await holding();
    await removed(other.gatekeeper, 'job');
    await settled();
    expect(signal).toMatchObject({ aborted: true, reason: { reason: 'revoked' } });
  });

  it('revoking what is gone changes nothing', async () => {
    const { other, permit } = await holding();
    expect(await other.gatekeeper.definitions.revoke('job', 'unknown')).toBe(false);
    await settled();
    expect(permit.isHeld).toBe(true);
  });

  it('is final: a lost permit is not refreshed, though it stands in the record', async () => {
    const { nodes, time, holder, permit } = await holding();
    await time.advance(9600);
    expect(await holder.gatekeeper.refresh(permit)).toBe(false);
    expect(await nodes.record()).toMatchObject({ permits: [{ id: permit.id }] });
    const next = (await holder.gatekeeper.tryAcquire('job'))!;
    expect(next.token).toBeGreaterThan(permit.token);
    expect(permit.isHeld).toBe(false);
  });
});

describe('keepAlive', () => {
  const cluster = useCluster();

  async function kept() {
    const nodes = cluster();
    const node = await nodes.node();
    const permit = (await node.gatekeeper.tryAcquire('job', { keepAlive: true }))!;
    return { nodes, time: nodes.time, ...node, permit, signal: permit.signal };
  }
  const away = () => Promise.reject(new StoreUnavailableError('away'));

  it('gets a permit over a short outage', async () => {
    const { time, store, permit, signal } = await kept();
    await time.advance(3000);
    store.script = away;
    await time.advance(6000);
    store.script = undefined;
    await time.advance(20_000);
    expect([permit.isHeld, signal.aborted]).toEqual([true, false]);
  });

  it('loses it over a long one, and does not get it back afterwards', async () => {
    const { time, store, permit, signal, of } = await kept();
    store.script = away;
    await time.advance(9499);
    expect(signal.aborted).toBe(false);
    await time.advance(1);
    expect(signal.reason).toMatchObject({ reason: 'expired' });
    store.script = undefined;
    await time.advance(20_000);
    expect(permit.isHeld).toBe(false);
    expect(of('refreshed')).toEqual([]);
  });

  it('tells of each refresh that failed', async () => {
    const { time, store, of } = await kept();
    store.script = away;
    await time.advance(3400);
    expect(of('problem')).toMatchObject([{ semaphore: 'job', action: 'keep-alive', error: { message: 'away' } }]);
  });

  it('goes on for as long as one use wants it', async () => {
    const { time, gatekeeper, permit } = await kept();
    const passive = (await gatekeeper.tryAcquire('job'))!;
    await time.advance(20_000);
    expect(passive.isHeld).toBe(true);
    await permit.release();
    await time.advance(10_000);
    expect(passive.isHeld).toBe(false);
  });

  it('begins again for a use that joins later', async () => {
    const { time, gatekeeper, permit } = await kept();
    const passive = (await gatekeeper.tryAcquire('job'))!;
    await permit.release();
    await time.advance(5000);
    await gatekeeper.tryAcquire('job', { keepAlive: true });
    await time.advance(30_000);
    expect(passive.isHeld).toBe(true);
  });

  it('lets a run finish that an edit no longer allows, but no new one start', async () => {
    const { time, gatekeeper, permit } = await kept();
    await gatekeeper.definitions.edit('job', { groupPattern: 'elsewhere' });
    await time.advance(30_000);
    expect(permit.isHeld).toBe(true);
    await permit.release();
    expect(await gatekeeper.run('job', () => 1)).toEqual({ executed: false, reason: 'group' });
  });

  it('lets a run finish after a pause, but no new one start', async () => {
    const { time, gatekeeper, permit } = await kept();
    await gatekeeper.definitions.edit('job', { permits: 0 });
    await time.advance(30_000);
    expect(permit.isHeld).toBe(true);
    await permit.release();
    expect(await gatekeeper.run('job', () => 1)).toEqual({ executed: false, reason: 'no-permit' });
  });

  it('lets the highest slots run out after an edit to fewer permits', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node({ definitions: [{ ...JOB, permits: 2 }] });
    const options = { keepAlive: true };
    const low = (await gatekeeper.tryAcquire('job', { ...options, holder: 'low' }))!;
    const high = (await gatekeeper.tryAcquire('job', { ...options, holder: 'high' }))!;
    await gatekeeper.definitions.edit('job', { permits: 1 });
    await nodes.time.advance(30_000);
    expect([low.isHeld, high.isHeld]).toEqual([true, false]);
  });

  it('goes by an edited duration from the next refresh', async () => {
    const { nodes, time, gatekeeper, permit } = await kept();
    await gatekeeper.definitions.edit('job', { duration: '1m' });
    await time.advance(3400);
    const [stored] = (await nodes.record()).permits;
    expect(stored!.expiresAt - nodes.time.cluster()).toBeGreaterThan(59_000);
    expect(permit.remaining).toBeGreaterThan(59_000);
  });
});
