import { StoreUnavailableError, UnknownOutcomeError } from 'nestjs-gatekeeper';
import { DOUBT } from '../../../lib/core/decision/index.js';
import { settled } from '../../support/fake-time.js';
import { type TestCluster, type TestNode, outcomeOf, useCluster } from '../../support/nodes.js';
import { type Go, onNextWrite } from '../../support/scripted-store.js';
import { removed } from '../../support/removed.js';

/** The store comes back when the definition's duration has long passed, and the permit is freed. */
async function expectFreedLate(nodes: TestCluster, { store }: TestNode): Promise<void> {
  await nodes.time.advance(60_000);
  expect((await nodes.record()).permits).toHaveLength(1);
  store.script = undefined;
  await nodes.time.advance(6000);
  expect((await nodes.record()).permits).toEqual([]);
}

/** The next write is applied, its answer is lost, and the store stays away. */
function loseAnswerAndStore({ store }: TestNode): void {
  onNextWrite(store, async (go) => {
    await go();
    store.script = () => Promise.reject(new StoreUnavailableError('away'));
    throw new UnknownOutcomeError('the connection broke');
  });
}

const never = () => new Promise<never>(() => undefined);

describe('a write whose answer is not clear', () => {
  const cluster = useCluster();

  it('counts as written when it was applied and the answer got lost', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    onNextWrite(store, async (go) => {
      await go();
      throw new UnknownOutcomeError('the connection broke');
    });
    const permit = (await gatekeeper.tryAcquire('job'))!;
    expect((await nodes.record()).permits).toMatchObject([{ id: permit.id }]);
    expect(permit.isHeld).toBe(true);
  });

  it('counts as written when it was applied and the store says that it was not', async () => {
    const nodes = cluster();
    const { gatekeeper, store, of } = await nodes.node();
    onNextWrite(store, async (go) => {
      await go();
      return false;
    });
    const permit = (await gatekeeper.tryAcquire('job'))!;
    expect((await nodes.record()).permits).toMatchObject([{ id: permit.id }]);
    expect(of('granted')).toHaveLength(1);
  });

  it('does not count as written as long as no write is confirmed: the one copy that has it may get lost', async () => {
    const nodes = cluster();
    const { gatekeeper, store, of } = await nodes.node();
    // The record's owner writes, but its backups are out of reach.
    store.script = async (call, go) => {
      const done = await go();
      if (call === 'compareAndSet') throw new UnknownOutcomeError('no backup confirmed it');
      return done;
    };
    const asking = gatekeeper.tryAcquire('job').catch((error: Error) => error);
    for (let waited = 0; waited < 2000; waited += 50) await nodes.time.advance(50);
    expect(await asking).toBeInstanceOf(UnknownOutcomeError);
    expect(of('granted')).toEqual([]);
  });

  it('is cleaned up for all calls together: many unclear calls ask the store no more often than one', async () => {
    const callsAfter = async (count: number) => {
      const nodes = cluster();
      const definitions = [{ name: 'job', duration: '1h', permits: count }];
      const { gatekeeper, store } = await nodes.node({ definitions });
      // Each call is granted by a write that is applied, and gets no answer.
      store.script = async (call, go) => {
        if (call !== 'compareAndSet') return go();
        await go();
        return never();
      };
      const holders = Array.from({ length: count }, (_, index) => `holder ${index}`);
      const asking = holders.map((holder) => gatekeeper.tryAcquire('job', { holder }).catch((error: Error) => error));
      await nodes.time.advance(3000);
      for (const asked of asking) expect(await asked).toBeInstanceOf(Error);
      store.script = (call, go) =>
        call === 'compareAndSet' ? Promise.reject(new StoreUnavailableError('away')) : go();
      const before = store.calls.compareAndSet;
      await nodes.time.advance(20_000);
      const during = store.calls.compareAndSet - before;
      store.script = undefined;
      await nodes.time.advance(6000);
      expect((await nodes.record()).permits).toEqual([]);
      return during;
    };
    const afterOne = await callsAfter(1);
    expect(afterOne).toBeGreaterThan(0);
    expect(await callsAfter(12)).toBeLessThanOrEqual(afterOne + 1);
  });

  it.each(['edit', 'remove', 'revoke'] as const)('counts as one %s, not as a conflict with itself', async (verb) => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    const permit = (await gatekeeper.tryAcquire('job'))!;
    const { definitions } = gatekeeper;
    onNextWrite(store, async (go) => {
      await go();
      throw new UnknownOutcomeError('the connection broke');
    });
    const verbs = {
      edit: async () => (await definitions.edit('job', { permits: 2 }, { expectedRevision: 1 })).revision === 2,
      remove: () => removed(gatekeeper, 'job'),
      revoke: () => definitions.revoke('job', permit.id),
    };
    expect(await verbs[verb]()).toBe(true);
  });

  it('is made again when it was not applied', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    onNextWrite(store, () => Promise.reject(new UnknownOutcomeError('the connection broke')));
    expect(await gatekeeper.tryAcquire('job')).toBeDefined();
    expect((await nodes.record()).permits).toHaveLength(1);
  });

  it('is never counted as granted when no answer comes within callTimeout', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    onNextWrite(store, never);
    const asking = gatekeeper.tryAcquire('job').catch((error: Error) => error);
    await nodes.time.advance(1999);
    expect(await outcomeOf(asking)).toBe('pending');
    await nodes.time.advance(1);
    expect(await asking).toBeInstanceOf(UnknownOutcomeError);
  });

  it.each([
    ['asked for', async ({ gatekeeper }: TestNode) => (await gatekeeper.tryAcquire('job', { duration: '1h' }))!],
    [
      'extended',
      async ({ gatekeeper }: TestNode) => {
        const permit = (await gatekeeper.tryAcquire('job'))!;
        await permit.extend('1h');
        return permit;
      },
    ],
  ])('is freed for as long as it lasts, when it was %s for longer than the definition says', async (_how, take) => {
    const nodes = cluster();
    const node = await nodes.node();
    const permit = await take(node);
    node.store.script = () => Promise.reject(new StoreUnavailableError('away'));
    await expect(permit.release()).rejects.toThrow(StoreUnavailableError);
    await expectFreedLate(nodes, node);
  });

  it('is looked for as long as the call lasts: the store was away for a moment', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    loseAnswerAndStore(node);
    const asking = node.gatekeeper.tryAcquire('job');
    await nodes.time.advance(1000);
    node.store.script = undefined;
    await nodes.time.advance(500);
    expect((await nodes.record()).permits).toMatchObject([{ id: (await asking)!.id }]);
  });

  it('is looked for with growing pauses: the store answers reads, and refuses each further write', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    onNextWrite(store, async () => {
      store.script = (call, go) =>
        call === 'compareAndSet' ? Promise.reject(new StoreUnavailableError('away')) : go();
      throw new UnknownOutcomeError('the connection broke');
    });
    const before = store.calls.compareAndSet;
    const asking = gatekeeper.tryAcquire('job').catch((failure: unknown) => failure);
    await nodes.time.advance(2000);
    expect(await asking).toBeInstanceOf(UnknownOutcomeError);
    const sent = store.calls.compareAndSet - before;
    expect(sent).toBeGreaterThan(3);
    expect(sent).toBeLessThan(60);
  });

  it('is freed for the requested duration, when the outcome of the grant is unknown', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    loseAnswerAndStore(node);
    const asking = node.gatekeeper.tryAcquire('job', { duration: '1h' }).catch((failure: unknown) => failure);
    await nodes.time.advance(2000);
    expect(await asking).toBeInstanceOf(UnknownOutcomeError);
    await expectFreedLate(nodes, node);
  });

  it('is freed when it was applied without an answer', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    onNextWrite(one.store, async (go) => {
      await go();
      return never();
    });
    const asking = one.gatekeeper.run('job', () => 1);
    await nodes.time.advance(2000);
    expect(await asking).toEqual({ executed: false, reason: 'unavailable' });
    await nodes.time.advance(100);
    expect((await nodes.record()).permits).toEqual([]);
    expect(await other.gatekeeper.tryAcquire('job')).toBeDefined();
  });

  it('stays unclear when the store has lost data since, and refuses to have the record restored', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    onNextWrite(node.store, async (go) => {
      await go();
      node.store.script = async (call, go) => {
        if (call === 'compareAndSet') throw new StoreUnavailableError('not enough replicas');
        return call === 'read' ? `${DOUBT}${String(await go())}` : go();
      };
      throw new UnknownOutcomeError('the connection broke');
    });
    const asking = node.gatekeeper.tryAcquire('job', { duration: '1h' }).catch((failure: unknown) => failure);
    await nodes.time.advance(2000);
    expect(await asking).toBeInstanceOf(UnknownOutcomeError);
    await expectFreedLate(nodes, node);
  });

  it('can no longer be applied once the node gave it up', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    let late!: Go;
    onNextWrite(store, (go) => {
      late = go;
      return never();
    });
    const asking = gatekeeper.tryAcquire('job').catch((error: Error) => error);
    await nodes.time.advance(3000);
    await asking;
    expect(await late()).toBe(false);
    expect((await nodes.record()).permits).toEqual([]);
  });

  it('retries a release until the store can be reached', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    const permit = (await gatekeeper.tryAcquire('job'))!;
    store.script = () => Promise.reject(new StoreUnavailableError('away'));
    await expect(permit.release()).rejects.toThrow('away');
    expect(permit.isHeld).toBe(false);
    await nodes.time.advance(1000);
    store.script = undefined;
    await nodes.time.advance(5000);
    expect((await nodes.record()).permits).toEqual([]);
  });
});

describe('a grant that arrives too late', () => {
  const cluster = useCluster();

  it('is not used but released', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node({ callTimeout: '20s' });
    onNextWrite(store, async (go) => {
      const answer = await go();
      nodes.time.freeze(9600);
      return answer;
    });
    expect(await gatekeeper.tryAcquire('job')).toBeUndefined();
    await settled();
    expect((await nodes.record()).permits).toEqual([]);
  });

  it('does not start a run', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node({ callTimeout: '20s' });
    onNextWrite(store, async (go) => {
      const answer = await go();
      nodes.time.freeze(9600);
      return answer;
    });
    const result = await gatekeeper.run('job', () => 'ran');
    expect(result).toEqual({ executed: false, reason: 'permit-lost' });
  });
});

describe('two nodes that write at the same time', () => {
  const cluster = useCluster();

  it('give one of them the permit', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    const permits = await Promise.all([one.gatekeeper.tryAcquire('job'), other.gatekeeper.tryAcquire('job')]);
    expect(permits.filter(Boolean)).toHaveLength(1);
  });

  it('never exceed the permits, and their tokens grow, over many turns', async () => {
    const nodes = cluster();
    const definitions = [{ name: 'job', duration: '10s', permits: 2 }];
    const contenders = await Promise.all(Array.from({ length: 5 }, () => nodes.node({ definitions })));
    const turns: number[][] = [];
    for (let turn = 0; turn < 10; turn++) {
      const asking = Promise.all(contenders.map(({ gatekeeper }) => gatekeeper.tryAcquire('job')));
      await nodes.time.advance(500);
      const held = (await asking).filter((permit) => permit !== undefined);
      turns.push(held.map(({ token }) => token).toSorted((one, other) => one - other));
      const releasing = Promise.all(held.map((permit) => permit.release()));
      await nodes.time.advance(500);
      await releasing;
    }
    expect(turns.map((tokens) => tokens.length)).toEqual(Array.from({ length: 10 }, () => 2));
    const tokens = turns.flat();
    expect(tokens).toEqual([...new Set(tokens)].toSorted((one, other) => one - other));
  });
});
