import { InvalidOptionsError, PermitLostError, StoreUnavailableError, UnknownSemaphoreError } from 'nestjs-gatekeeper';
import { START, settled } from '../../support/fake-time.js';
import { JOB, useCluster } from '../../support/nodes.js';
import { onNextWrite } from '../../support/scripted-store.js';

describe('tryAcquire', () => {
  const cluster = useCluster();

  it('grants a permit that tells all about itself', async () => {
    const { gatekeeper } = await cluster().node({ group: 'production' });
    const permit = await gatekeeper.tryAcquire('job');
    expect(permit).toMatchObject({
      semaphore: 'job',
      slot: 0,
      token: START * 1024,
      instance: gatekeeper.node.instance,
      acquirer: 'app1',
      group: 'production',
      grantedAt: START,
      expiresAt: START + 10_000,
      isHeld: true,
      isGuarded: true,
    });
  });

  it('denies another node by undefined', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    await one.gatekeeper.tryAcquire('job');
    expect(await other.gatekeeper.tryAcquire('job')).toBeUndefined();
  });

  it('tells of a denial in an event', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    await one.gatekeeper.tryAcquire('job');
    await other.gatekeeper.tryAcquire('job');
    expect(other.of('denied')).toEqual([{ type: 'denied', semaphore: 'job', reason: 'no-permit' }]);
  });

  it('gives the uses of one process the same permit, and the store gets it back with the last one', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    const first = await one.gatekeeper.tryAcquire('job');
    const second = await one.gatekeeper.tryAcquire('job');
    expect(second!.id).toBe(first!.id);
    expect(second!.token).toBe(first!.token);
    await first!.release();
    expect([first!.isHeld, second!.isHeld]).toEqual([false, true]);
    expect(await other.gatekeeper.tryAcquire('job')).toBeUndefined();
    await second!.release();
    expect((await other.gatekeeper.tryAcquire('job'))!.token).toBeGreaterThan(first!.token);
  });

  it.each([
    ['', undefined],
    [', although the store fails then', () => Promise.reject(new StoreUnavailableError('gone'))],
  ])('does not free a permit under a use that joins while it is given back%s', async (_how, afterwards) => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    const first = (await gatekeeper.tryAcquire('job'))!;
    let answer!: () => void;
    store.script = async (_, go) => {
      await new Promise<void>((resolve) => (answer = resolve));
      return go();
    };
    const joining = gatekeeper.tryAcquire('job');
    await settled();
    const releasing = first.release();
    store.script = afterwards;
    answer();
    await releasing;
    store.script = undefined;
    await nodes.time.advance(1000);
    const joined = (await joining)!;
    expect(joined).toMatchObject({ id: first.id, isHeld: true });
    expect((await nodes.record()).permits).toMatchObject([{ id: first.id }]);
  });

  it('makes one event of its release, also of several calls at the same time', async () => {
    const nodes = cluster();
    const { gatekeeper, of } = await nodes.node({ store: nodes.memory });
    const permit = (await gatekeeper.tryAcquire('on demand', { duration: '10s' }))!;
    await Promise.all([permit.release(), permit.release(), permit.release()]);
    expect(of('released')).toMatchObject([{ semaphore: 'on demand', permit: { id: permit.id } }]);
  });

  it('goes back in the background if its call was aborted and the store is away, and the call tells the reason', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    const aborter = new AbortController();
    onNextWrite(store, async (go) => {
      const done = await go();
      store.script = () => Promise.reject(new StoreUnavailableError('away'));
      aborter.abort(new Error('enough'));
      return done;
    });
    await expect(gatekeeper.acquire('job', { signal: aborter.signal })).rejects.toThrow('enough');
    store.script = undefined;
    await nodes.time.advance(1000);
    expect((await nodes.record()).permits).toEqual([]);
  });

  it('counts a use once however often it is released', async () => {
    const { gatekeeper } = await cluster().node();
    const first = await gatekeeper.tryAcquire('job');
    const second = await gatekeeper.tryAcquire('job');
    await Promise.all([first!.release(), first!.release(), first!.release()]);
    expect(second!.isHeld).toBe(true);
  });

  it('gives named holders of one process permits of their own', async () => {
    const { gatekeeper } = await cluster().node({ definitions: [{ ...JOB, permits: 2 }] });
    const one = await gatekeeper.tryAcquire('job', { holder: 'one' });
    const two = await gatekeeper.tryAcquire('job', { holder: 'two' });
    expect([one!.slot, two!.slot]).toEqual([0, 1]);
    expect(await gatekeeper.tryAcquire('job', { holder: 'three' })).toBeUndefined();
    expect((await gatekeeper.tryAcquire('job', { holder: 'two' }))!.id).toBe(two!.id);
  });

  it('holds the acquirer that the call names against the pattern', async () => {
    const { gatekeeper } = await cluster().node({ definitions: [{ ...JOB, acquirerPattern: 'tenant-.*' }] });
    expect(await gatekeeper.tryAcquire('job')).toBeUndefined();
    expect((await gatekeeper.tryAcquire('job', { acquirer: 'tenant-1' }))!.acquirer).toBe('tenant-1');
  });

  it('lets a permit last for as long as the call says', async () => {
    const { gatekeeper } = await cluster().node();
    const permit = await gatekeeper.tryAcquire('job', { duration: '1m' });
    expect(permit!.expiresAt).toBe(START + 60_000);
  });

  it.each([100, '1s', 1500])('refuses a duration of %s, which is over before it can be used', async (duration) => {
    const { gatekeeper } = await cluster().node();
    await expect(gatekeeper.tryAcquire('job', { duration })).rejects.toThrow(/clockTolerance/);
  });

  it('throws when the semaphore is not defined', async () => {
    const { gatekeeper } = await cluster().node();
    await expect(gatekeeper.tryAcquire('typo')).rejects.toThrow(UnknownSemaphoreError);
    await expect(gatekeeper.tryAcquire('typo')).rejects.toThrow(/"typo" has no definition/);
  });

  it('grants a name on demand for the duration that a call gives, and defines nothing', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    expect((await one.gatekeeper.tryAcquire('ad hoc', { duration: '20s' }))!.expiresAt).toBe(START + 20_000);
    expect(await other.gatekeeper.tryAcquire('ad hoc', { duration: '20s' })).toBeUndefined();
    expect(one.of('defined').map(({ semaphore }) => semaphore)).not.toContain('ad hoc');
  });

  it('defines none when definitions are required', async () => {
    const { gatekeeper } = await cluster().node({ requireDefinitions: true });
    await expect(gatekeeper.tryAcquire('ad hoc', { duration: '20s' })).rejects.toThrow(UnknownSemaphoreError);
  });

  it.each([
    ['duration', { duration: 'soon' }, '"soon"'],
    ['holder', { holder: '' }, 'empty'],
    ['acquirer', { acquirer: 7 as never }, '7'],
    ['keepAlive', { keepAlive: 'yes' as never }, '"yes"'],
    ['retries', { retries: 3 } as never, 'retries'],
  ])('names the option %s that it can not use, and its value', async (field, options, value) => {
    const { gatekeeper } = await cluster().node();
    const error = await gatekeeper.tryAcquire('job', options).catch((fault: Error) => fault);
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect((error as Error).message).toContain(field);
    expect((error as Error).message).toContain(value);
  });

  it.each(['', 'x'.repeat(201), 'a\nb', undefined, 7])('refuses %p as a name', async (name) => {
    const { gatekeeper } = await cluster().node();
    await expect(gatekeeper.tryAcquire(name as string)).rejects.toThrow(InvalidOptionsError);
  });
});

describe('a permit', () => {
  const cluster = useCluster();

  it('tells how many ms this process may still count on it: the tolerance less than the store would say', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    const permit = (await gatekeeper.tryAcquire('job'))!;
    expect(gatekeeper.getExpirationPeriod(permit)).toBe(9500);
    await nodes.time.advance(4000);
    expect(gatekeeper.getExpirationPeriod(permit)).toBe(5500);
    await permit.release();
    expect(gatekeeper.getExpirationPeriod(permit)).toBe(0);
  });

  it('keeps id, slot and token when it is refreshed, and lasts anew from then', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    const permit = (await gatekeeper.tryAcquire('job'))!;
    const { id, slot, token } = permit;
    await nodes.time.advance(4000);
    expect(await gatekeeper.refresh(permit)).toBe(true);
    expect(permit).toMatchObject({ id, slot, token, remaining: 9500, expiresAt: START + 14_000 });
    expect((await nodes.record()).permits).toMatchObject([{ id, expiresAt: START + 14_000 }]);
  });

  it('is extended by a duration, and never shortened', async () => {
    const { gatekeeper } = await cluster().node();
    const permit = (await gatekeeper.tryAcquire('job'))!;
    await permit.extend('1m');
    expect(permit.remaining).toBe(59_500);
    await permit.extend();
    expect(permit.remaining).toBeGreaterThanOrEqual(59_500);
  });

  it('can not be refreshed once it was released', async () => {
    const { gatekeeper } = await cluster().node();
    const permit = (await gatekeeper.tryAcquire('job'))!;
    await gatekeeper.release(permit);
    expect(await gatekeeper.refresh(permit)).toBe(false);
    await expect(permit.extend()).rejects.toThrow(PermitLostError);
    expect(() => permit.assertHeld()).toThrow(expect.objectContaining({ code: 'permit-lost', reason: 'released' }));
    expect(permit.signal.aborted).toBe(false);
  });

  it('can be logged: it shows what it is, and not the gatekeeper behind it', async () => {
    const { gatekeeper } = await cluster().node();
    const permit = (await gatekeeper.tryAcquire('job'))!;
    expect(JSON.parse(JSON.stringify({ permit })).permit).toMatchObject({
      semaphore: 'job',
      id: permit.id,
      token: permit.token,
      isHeld: true,
      remaining: 9500,
    });
  });

  it('is released by `await using`', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    const permit = (await gatekeeper.tryAcquire('job'))!;
    await permit[Symbol.asyncDispose]();
    expect((await nodes.record()).permits).toEqual([]);
  });

  it('lives and dies by its own semaphore, whichever it is handed to', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node({ definitions: [JOB, { ...JOB, name: 'other' }] });
    const permit = (await gatekeeper.tryAcquire('job'))!;
    expect(await gatekeeper.semaphore('other').refresh(permit)).toBe(true);
    expect(permit.isHeld).toBe(true);
    await gatekeeper.semaphore('other').release(permit);
    expect((await nodes.record()).permits).toEqual([]);
  });

  it('goes back late without freeing the permit of who came after', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    const stale = (await one.gatekeeper.tryAcquire('job'))!;
    await nodes.time.advance(10_600);
    const fresh = (await other.gatekeeper.tryAcquire('job'))!;
    await stale.release();
    expect((await nodes.record()).permits).toMatchObject([{ id: fresh.id }]);
    expect(await other.gatekeeper.refresh(fresh)).toBe(true);
  });
});

describe('semaphore()', () => {
  const cluster = useCluster();

  it('has the same verbs, bound to a name', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    const semaphore = gatekeeper.semaphore('job');
    const permit = (await semaphore.tryAcquire())!;
    await nodes.time.advance(1000);
    expect(await semaphore.refresh(permit)).toBe(true);
    expect(semaphore.getExpirationPeriod(permit)).toBe(9500);
    expect((await semaphore.explain()).outcome).toBe('refreshed');
    await semaphore.release(permit);
    expect(await semaphore.run(() => 7)).toEqual({ executed: true, value: 7 });
    expect((await semaphore.acquire()).semaphore).toBe('job');
  });

  it('is one semaphore per name, however often it is asked for', async () => {
    const { gatekeeper } = await cluster().node();
    const permit = await gatekeeper.semaphore('job').tryAcquire();
    expect((await gatekeeper.semaphore('job').tryAcquire())!.id).toBe(permit!.id);
  });
});
