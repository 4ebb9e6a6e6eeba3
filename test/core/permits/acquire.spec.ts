import { AcquireTimeoutError, type Permit, StoreUnavailableError, UnknownSemaphoreError } from 'nestjs-gatekeeper';
import { settled } from '../../support/fake-time.js';
import { JOB, type TestNode, outcomeOf, useCluster } from '../../support/nodes.js';

describe('acquire', () => {
  const cluster = useCluster();

  async function held() {
    const nodes = cluster();
    const [holder, waiter] = [await nodes.node(), await nodes.node()];
    const permit = (await holder.gatekeeper.tryAcquire('job', { keepAlive: true }))!;
    return { nodes, holder, waiter, permit };
  }

  it('is woken by the release, without any time going by', async () => {
    const { waiter, permit } = await held();
    const waiting = waiter.gatekeeper.acquire('job');
    expect(await outcomeOf(waiting)).toBe('pending');
    await permit.release();
    expect(await outcomeOf(waiting)).toMatchObject({ value: { isHeld: true } });
  });

  it.each([
    ['that gives it back', async () => {}],
    [
      'that can give it back only later',
      async ({ store }: TestNode) => {
        store.script = () => Promise.reject(new StoreUnavailableError('away'));
      },
    ],
  ])('is woken by a release of its own process %s', async (_how, before) => {
    const nodes = cluster();
    const node = await nodes.node();
    const { gatekeeper, store } = node;
    // Most stores don't notify a client of its own writes.
    store.isDeaf = true;
    const permit = (await gatekeeper.tryAcquire('job', { holder: 'one', duration: '1h' }))!;
    const waiting = gatekeeper.acquire('job', { holder: 'two' });
    await settled();
    await before(node);
    await permit.release().catch(() => undefined);
    store.script = undefined;
    await nodes.time.advance(150);
    expect(await outcomeOf(waiting)).toMatchObject({ value: { isHeld: true } });
  });

  it('does not ask on and on for what is over when it comes', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node({ definitions: [{ ...JOB, duration: '2s' }] });
    store.isDeaf = true;
    const before = store.calls.compareAndSet;
    // By the wall clock each answer comes after the end of what it grants.
    store.script = (call, go) => (call === 'compareAndSet' && nodes.time.jumpWall(2000), go());
    const waiting = gatekeeper.acquire('job', { timeout: '3s' }).catch((error: Error) => error);
    await nodes.time.advance(3000);
    expect(await waiting).toBeInstanceOf(AcquireTimeoutError);
    expect(store.calls.compareAndSet - before).toBeGreaterThan(1);
    expect(store.calls.compareAndSet - before).toBeLessThan(12);
  });

  it('is woken when the permit expires', async () => {
    const nodes = cluster();
    const [holder, waiter] = [await nodes.node(), await nodes.node()];
    await holder.gatekeeper.tryAcquire('job');
    const waiting = waiter.gatekeeper.acquire('job');
    await nodes.time.advance(10_400);
    expect(await outcomeOf(waiting)).toBe('pending');
    await nodes.time.advance(200);
    expect(await outcomeOf(waiting)).toMatchObject({ value: { isHeld: true } });
  });

  it('is woken when the permit must be over, though it was stamped by a clock that is 10 minutes ahead', async () => {
    const nodes = cluster();
    const waiter = await nodes.node();
    const holder = nodes.unstarted();
    holder.store.script = async (call, go) => {
      const answer = await go();
      return call === 'now' ? { time: nodes.time.cluster() + 600_000, member: 'ahead' } : answer;
    };
    await holder.gatekeeper.start();
    await holder.gatekeeper.tryAcquire('job');
    const waiting = waiter.gatekeeper.acquire('job');
    await nodes.time.advance(10_499);
    expect(await outcomeOf(waiting)).toBe('pending');
    await nodes.time.advance(2 + 20);
    expect(await outcomeOf(waiting)).toMatchObject({ value: { isHeld: true } });
  });

  it('is woken by an edit that adds a permit', async () => {
    const { holder, waiter } = await held();
    const waiting = waiter.gatekeeper.acquire('job');
    await settled();
    await holder.gatekeeper.definitions.edit('job', { permits: 2 });
    expect(await outcomeOf(waiting)).toMatchObject({ value: { slot: 1 } });
  });

  it('hears of a release that happens while it looks, at whichever moment of that, by its second look', async () => {
    for (let hops = 0; hops < 40; hops++) {
      const { nodes, waiter, permit } = await held();
      let release = async () => {
        release = async () => undefined;
        for (let hop = 0; hop < hops; hop++) await undefined;
        await permit.release();
      };
      waiter.store.script = async (call, go) => {
        const answer = await go();
        if (call === 'read') void release();
        return answer;
      };
      const waiting = waiter.gatekeeper.acquire('job');
      await nodes.time.advance(50 + 20); // the other node may not have known yet that this one waits
      expect({ hops, ...Object(await outcomeOf(waiting)) }).toMatchObject({ hops, value: {} });
    }
  });

  it('asks the store no more than every few seconds while nothing happens', async () => {
    const { nodes, waiter } = await held();
    const aborter = new AbortController();
    const waiting = outcomeOf(waiter.gatekeeper.acquire('job', { signal: aborter.signal }));
    await settled();
    const before = waiter.store.calls.read;
    await nodes.time.advance(60_000);
    // The naps of 5 s at the longest, and news of the holder's 18 refreshes.
    expect(waiter.store.calls.read - before).toBeLessThan(40);
    expect(await waiting).toBe('pending');
    aborter.abort(new Error('enough'));
  });

  it('gives up after the timeout and says what it was denied for', async () => {
    const { nodes, waiter } = await held();
    const waiting = waiter.gatekeeper.acquire('job', { timeout: '3s' });
    const outcome = waiting.catch((error: Error) => error);
    await nodes.time.advance(2999);
    expect(await outcomeOf(waiting)).toBe('pending');
    await nodes.time.advance(1);
    const error = (await outcome) as AcquireTimeoutError;
    expect(error).toBeInstanceOf(AcquireTimeoutError);
    expect(error).toMatchObject({ code: 'acquire-timeout', semaphore: 'job', timeout: 3000, reason: 'no-permit' });
  });

  it('tries once with a timeout of 0', async () => {
    const { nodes, holder, waiter } = await held();
    const denied = waiter.gatekeeper.acquire('job', { timeout: 0 }).catch((error: Error) => error);
    await nodes.time.advance(0);
    expect(await denied).toBeInstanceOf(AcquireTimeoutError);
    const granted = holder.gatekeeper.acquire('job', { timeout: 0 });
    await nodes.time.advance(0);
    expect((await granted).isHeld).toBe(true);
  });

  it('does not begin when its signal has aborted already', async () => {
    const { waiter } = await held();
    const before = waiter.store.calls.read;
    const signal = AbortSignal.abort(new Error('no longer needed'));
    await expect(waiter.gatekeeper.acquire('job', { signal })).rejects.toThrow('no longer needed');
    expect(waiter.store.calls.read).toBe(before);
  });

  it('gives up when its signal aborts, and leaves the place to the next', async () => {
    const { waiter, permit } = await held();
    const aborter = new AbortController();
    const first = waiter.gatekeeper.acquire('job', { signal: aborter.signal, holder: 'first' });
    const second = waiter.gatekeeper.acquire('job', { holder: 'second' });
    await settled();
    aborter.abort(new Error('enough'));
    expect(await outcomeOf(first)).toMatchObject({ error: { message: 'enough' } });
    await permit.release();
    expect(await outcomeOf(second)).toMatchObject({ value: { isHeld: true } });
  });

  it('gives up its place in the line too', async () => {
    const { waiter, permit } = await held();
    const aborter = new AbortController();
    const first = waiter.gatekeeper.acquire('job', { holder: 'first' });
    const second = waiter.gatekeeper.acquire('job', { signal: aborter.signal, holder: 'second' });
    await settled();
    aborter.abort(new Error('enough'));
    expect(await outcomeOf(second)).toMatchObject({ error: { message: 'enough' } });
    await permit.release();
    expect(await outcomeOf(first)).toMatchObject({ value: { isHeld: true } });
  });

  it('gives back a grant that arrives after its signal aborted', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    const aborter = new AbortController();
    store.script = async (call, go) => {
      const answer = await go();
      if (call === 'compareAndSet') aborter.abort(new Error('enough'));
      return answer;
    };
    await expect(gatekeeper.acquire('job', { signal: aborter.signal })).rejects.toThrow('enough');
    expect((await nodes.record()).permits).toEqual([]);
  });

  it('serves those who wait in one process in the order in which they came', async () => {
    const { waiter, permit } = await held();
    const order: string[] = [];
    const queue = ['one', 'two', 'three'].map(async (holder) => {
      const got = await waiter.gatekeeper.acquire('job', { holder });
      order.push(holder);
      await got.release();
    });
    await settled();
    await permit.release();
    await Promise.all(queue);
    expect(order).toEqual(['one', 'two', 'three']);
  });

  it('does not make others wait behind one whose acquirer does not match, which has its permit once it does', async () => {
    const nodes = cluster();
    const definitions = [{ ...JOB, acquirerPattern: 'first', permits: 2 }];
    const { gatekeeper } = await nodes.node({ definitions });
    const second = gatekeeper.acquire('job', { acquirer: 'second', holder: 'b' });
    await nodes.time.advance(0);
    const first = gatekeeper.acquire('job', { acquirer: 'first', holder: 'a' });
    await nodes.time.advance(0);
    expect(await outcomeOf(first)).toMatchObject({ value: { isHeld: true } });
    expect(await outcomeOf(second)).toBe('pending');
    await gatekeeper.definitions.edit('job', { acquirerPattern: 'first|second' });
    await nodes.time.advance(0);
    expect(await outcomeOf(second)).toMatchObject({ value: { isHeld: true } });
  });

  it('says that its acquirer did not match when it gives up', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node({ definitions: [{ ...JOB, acquirerPattern: 'first' }] });
    const waiting = gatekeeper.acquire('job', { acquirer: 'second', timeout: '5s' }).catch((error: Error) => error);
    await nodes.time.advance(0);
    // Meanwhile others are in the line before it.
    for (const holder of ['a', 'b'])
      void gatekeeper.acquire('job', { acquirer: 'first', holder }).catch(() => undefined);
    await nodes.time.advance(5000);
    expect(await waiting).toMatchObject({ reason: 'acquirer' });
  });

  it('does not make a holder wait for its own permit behind others', async () => {
    const { holder } = await held();
    const behind = holder.gatekeeper.acquire('job', { holder: 'another', timeout: '1m' });
    behind.catch(() => undefined);
    await settled();
    expect(await outcomeOf(holder.gatekeeper.acquire('job'))).toMatchObject({ value: { isHeld: true } });
  });

  it('goes on waiting while the store can not be asked', async () => {
    const { nodes, waiter, permit } = await held();
    waiter.store.script = () => Promise.reject(new StoreUnavailableError('away'));
    const waiting = waiter.gatekeeper.acquire('job');
    await permit.release();
    await nodes.time.advance(3000);
    expect(await outcomeOf(waiting)).toBe('pending');
    waiter.store.script = undefined;
    await nodes.time.advance(1100);
    expect(await outcomeOf(waiting)).toMatchObject({ value: { isHeld: true } });
  });

  it('throws for an undefined semaphore instead of waiting for ever', async () => {
    const { gatekeeper } = await cluster().node();
    expect(await outcomeOf(gatekeeper.acquire('typo'))).toMatchObject({ error: expect.any(UnknownSemaphoreError) });
  });

  it('waits for a definition that is still to be loaded', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node({ definitionsDelay: '5s' });
    const waiting = gatekeeper.acquire('job');
    expect(await outcomeOf(waiting)).toBe('pending');
    await nodes.time.advance(7000);
    expect(await outcomeOf(waiting)).toMatchObject({ value: { isHeld: true } });
  });

  it('ends with an error when the node shuts down', async () => {
    const { nodes, waiter } = await held();
    const waiting = waiter.gatekeeper.acquire('job').catch((error: Error) => error);
    await settled();
    const closing = waiter.gatekeeper.close();
    await nodes.time.advance(0);
    expect(await waiting).toMatchObject({ code: 'acquire-timeout', reason: 'closing' });
    await closing;
  });

  it('tells those who wait of the shutdown before it waits for the runs that go on', async () => {
    const { nodes, waiter } = await held();
    await waiter.gatekeeper.definitions.edit('job', { permits: 2 });
    void waiter.gatekeeper.run('job', () => new Promise(() => undefined));
    const waiting = waiter.gatekeeper.acquire('job', { holder: 'third' }).catch((error: Error) => error);
    await settled();
    const draining = waiter.gatekeeper.drain();
    expect(await outcomeOf(waiting)).toMatchObject({ value: { reason: 'closing' } });
    await nodes.time.advance(10_000);
    await draining;
  });

  it('shares a permit among the waits of one process, as tryAcquire does', async () => {
    const { gatekeeper } = await cluster().node({ definitions: [JOB] });
    const permits: Permit[] = await Promise.all([gatekeeper.acquire('job'), gatekeeper.acquire('job')]);
    expect(permits[0]!.id).toBe(permits[1]!.id);
  });
});
