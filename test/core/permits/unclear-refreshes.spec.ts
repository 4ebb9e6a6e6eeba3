import { UnknownOutcomeError } from 'nestjs-gatekeeper';
import { type TestCluster, type TestNode, outcomeOf, useCluster } from '../../support/nodes.js';
import { take } from '../../support/external-client.js';
import { onNextWrite } from '../../support/scripted-store.js';

const never = () => new Promise<never>(() => undefined);

describe('a refresh whose answer is not clear', () => {
  const cluster = useCluster();

  it('does not lengthen the lease without an answer', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    const permit = (await gatekeeper.tryAcquire('job'))!;
    await nodes.time.advance(5000);
    onNextWrite(store, async (go) => {
      await go();
      return never();
    });
    const refreshing = gatekeeper.refresh(permit).catch((error: Error) => error);
    await nodes.time.advance(2000);
    expect(await refreshing).toBeInstanceOf(UnknownOutcomeError);
    expect(permit.remaining).toBe(2500);
  });

  it.each([
    ['never came', never],
    [
      'came after its end, when others had written',
      async (nodes: TestCluster, other: TestNode) => {
        await other.gatekeeper.definitions.edit('job', { permits: 2 });
        await nodes.time.advance(1600);
        throw new UnknownOutcomeError('the connection broke');
      },
    ],
  ])('is taken back where it lengthened a lease that ended meanwhile, and the answer %s', async (_how, answer) => {
    const nodes = cluster();
    const [{ gatekeeper, store }, other] = [await nodes.node(), await nodes.node()];
    const permit = (await gatekeeper.tryAcquire('job'))!;
    await nodes.time.advance(8000);
    onNextWrite(store, async (go) => {
      await go();
      return answer(nodes, other);
    });
    const extending = permit.extend('1h').catch((error: Error) => error);
    await nodes.time.advance(2000);
    expect(await extending).toBeInstanceOf(Error);
    expect(permit.isHeld).toBe(false);
    await nodes.time.advance(1000);
    expect((await nodes.record()).permits).toEqual([]);
  });

  it('keeps the slot until the lease would have expired anyway if the answer came when it was over', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    const permit = (await one.gatekeeper.tryAcquire('job'))!;
    const waiting = other.gatekeeper.acquire('job');
    await nodes.time.advance(9400);
    let answer!: () => void;
    onNextWrite(one.store, async (go) => {
      const isWritten = await go();
      await new Promise<void>((resolve) => (answer = resolve));
      return isWritten;
    });
    const refreshing = permit.refresh();
    await nodes.time.advance(150);
    expect(permit.isHeld).toBe(false);
    answer();
    expect(await refreshing).toBe(false);
    await nodes.time.advance(700);
    expect(await outcomeOf(waiting)).toBe('pending');
    await nodes.time.advance(1000);
    expect(await outcomeOf(waiting)).toMatchObject({ value: { isHeld: true } });
  });

  it('keeps the slot until the lease would have expired anyway, for work that is still stopping', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    const permit = (await one.gatekeeper.tryAcquire('job', { keepAlive: true }))!;
    const waiting = other.gatekeeper.acquire('job');
    const lost = () => Promise.reject(new UnknownOutcomeError('lost'));
    one.store.script = (call, go) => (call === 'compareAndSet' ? lost() : go());
    await nodes.time.advance(9600);
    expect(permit.isHeld).toBe(false);
    one.store.script = undefined;
    await nodes.time.advance(800);
    expect(await outcomeOf(waiting)).toBe('pending');
    await nodes.time.advance(300);
    expect(await outcomeOf(waiting)).toMatchObject({ value: { isHeld: true } });
  });

  it('is taken back where another use of the process asked for more', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    await gatekeeper.tryAcquire('job');
    await nodes.time.advance(5000);
    onNextWrite(store, async (go) => {
      await go();
      return never();
    });
    const asking = gatekeeper.tryAcquire('job', { duration: '1h' }).catch((error: Error) => error);
    await nodes.time.advance(2000);
    expect(await asking).toBeInstanceOf(UnknownOutcomeError);
    expect((await nodes.record()).permits).toMatchObject([{ duration: 3_600_000 }]);
    await nodes.time.advance(4000);
    expect((await nodes.record()).permits).toEqual([]);
  });
});

describe('a call for a permit that is denied after a write whose answer was lost', () => {
  const cluster = useCluster();

  /** Two nodes, and what happens between the write of the first one and its next look. */
  async function denied(asking: (one: TestNode) => Promise<unknown>, before?: (one: TestNode) => Promise<unknown>) {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    await other.gatekeeper.definitions.edit('job', { duration: '10m' });
    await before?.(one);
    onNextWrite(one.store, async (go) => {
      await go();
      await other.gatekeeper.definitions.pause('job');
      throw new UnknownOutcomeError('the connection broke');
    });
    await asking(one);
    expect(one.of('granted')).toHaveLength(before ? 1 : 0);
    await other.gatekeeper.definitions.resume('job');
    await nodes.time.advance(1000);
    return nodes;
  }

  it('leaves no permit behind', async () => {
    const nodes = await denied(({ gatekeeper }) => gatekeeper.tryAcquire('job'));
    expect((await nodes.record()).permits).toEqual([]);
  });

  it('leaves none behind of a client over HTTP', async () => {
    const nodes = await denied((node) => take(node));
    expect((await nodes.record()).permits).toEqual([]);
  });

  it('leaves the permit that it joined no longer than its other uses need it', async () => {
    const asking = ({ gatekeeper }: TestNode) => gatekeeper.tryAcquire('job', { duration: '1h' });
    const nodes = await denied(asking, ({ gatekeeper }) => gatekeeper.tryAcquire('job'));
    expect((await nodes.record()).permits).toMatchObject([{ duration: 3_600_000 }]);
    await nodes.time.advance(602_000);
    expect((await nodes.record()).permits).toEqual([]);
  });
});
