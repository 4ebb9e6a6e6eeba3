import { UnknownOutcomeError, UnknownSemaphoreError } from 'nestjs-gatekeeper';
import {
  ROOT_KEY,
  SHARD_PREFIX,
  decodeShardRoot,
  decodeShard,
  encodeShardRoot,
  nextBirthStep,
} from '../../../lib/core/decision/index.js';
import { JOB, type TestCluster, useCluster } from '../../support/nodes.js';
import { allTexts } from '../../../lib/core/store/paging.js';

const NAME = 'order-123';
const SHORT = { duration: '10s' };
const born = { v: 1, nonce: 'n', id: 'i' } as const;

describe('the next step of a node without history', () => {
  it.each([
    ['open', true, false, false, 'join'],
    ['announced', true, false, true, 'open'],
    ['absent', true, false, false, 'open'],
    ['absent', false, true, false, 'open'],
    ['absent', false, false, false, 'announce'],
    ['announced', false, false, false, 'wait'],
    ['creating', false, false, true, 'create'],
  ] as const)(
    'with a root that is %s (data %s, strict %s, stood %s) is to %s',
    (state, hasData, isStrict, hasStood, step) => {
      const root = state === 'absent' ? undefined : { ...born, state };
      expect(nextBirthStep(root, { hasData, isStrict, hasStood })).toBe(step);
    },
  );
});

describe('the birth of a cluster', () => {
  const cluster = useCluster();
  const start = async (nodes: TestCluster, options = {}) => {
    const node = nodes.unstarted({ definitions: [JOB], definitionsDelay: '5s', ...options });
    await node.gatekeeper.start();
    return node;
  };
  const shards = async (nodes: TestCluster) =>
    [...(await allTexts(nodes.raw.records, SHARD_PREFIX))].map(([key, text]) => decodeShard(key, text));

  it('makes all shards once, without a grace, though several nodes begin at the same moment', async () => {
    const nodes = cluster();
    await Promise.all([start(nodes), start(nodes), start(nodes)]);
    await nodes.time.advance(12_000);
    const root = decodeShardRoot((await nodes.raw.records.read(ROOT_KEY))!);
    expect(root.state).toBe('open');
    expect(new Set((await shards(nodes)).map(({ birth, grace }) => `${birth} ${grace?.id}`))).toEqual(
      new Set([`${root.id} undefined`]),
    );
  });

  it('takes the grace where a node starts strictly', async () => {
    const nodes = cluster();
    const node = await start(nodes, { strictStart: true });
    await nodes.time.advance(6_000);
    expect((await shards(nodes)).every(({ grace }) => grace !== undefined)).toBe(true);
    expect(await node.gatekeeper.tryAcquire(NAME, SHORT)).toBeUndefined();
  });

  describe('beside a transient process, such as a command', () => {
    const visit = async (nodes: TestCluster, options = {}) => {
      const process = nodes.unstarted({ strictStart: true, ...options }, nodes.time, { isTransient: true });
      await process.gatekeeper.start();
      return process;
    };

    it('is left to the nodes: one that only reads before the first of them leaves no grace behind', async () => {
      const nodes = cluster();
      const { gatekeeper } = await visit(nodes);
      await nodes.time.advance(60_000);
      expect((await gatekeeper.state()).semaphores).toEqual([]);
      expect((await gatekeeper.explain('job')).reason).toBe('no-definition');
      expect(await gatekeeper.definitions.get('job')).toBeUndefined();
      await expect(gatekeeper.definitions.edit('job', { permits: 2 })).rejects.toThrow(UnknownSemaphoreError);
      expect(await nodes.raw.records.read(ROOT_KEY)).toBeUndefined();

      const node = await start(nodes);
      await nodes.time.advance(12_000);
      expect(await node.gatekeeper.tryAcquire(NAME, SHORT)).toBeDefined();
      expect((await gatekeeper.explain(NAME)).holders).toHaveLength(1);
    });

    it('is awaited by its calls', async () => {
      const nodes = cluster();
      const { gatekeeper } = await visit(nodes);
      await start(nodes, { definitionsDelay: 0 });
      await nodes.time.advance(100);
      const defining = gatekeeper.definitions.define({ name: 'report', duration: '1m' });
      await nodes.time.advance(12_000);
      expect((await defining).definition.name).toBe('report');
      expect((await shards(nodes)).every(({ grace }) => grace === undefined)).toBe(true);
    });

    it('is made by it, with the grace, if it has something to write before the first node', async () => {
      const nodes = cluster();
      const { gatekeeper } = await visit(nodes);
      await nodes.time.advance(1000);
      const defining = gatekeeper.definitions.define(JOB);
      await nodes.time.advance(2000);
      expect((await defining).definition.name).toBe('job');
      expect((await shards(nodes)).every(({ grace }) => grace !== undefined)).toBe(true);
    });
  });

  it('shows the grace in the health of a node that starts strictly, until it is over', async () => {
    const nodes = cluster();
    const { gatekeeper } = await start(nodes, { strictStart: true });
    const sentences = () =>
      gatekeeper.health().faults.flatMap(({ code, sentence }) => (code === 'recovering' ? sentence : []));
    await nodes.time.advance(6000);
    expect(sentences()).toEqual([
      expect.stringMatching(/only former holders of names without a definition go on, and definitions that are new in/),
    ]);
    const seen = new Set<string>();
    // A definition that is new in the code comes with the first sweep after the grace of the shards, and with its own.
    for (const end = nodes.time.monotonic() + 15 * 60_000 + 30_000; nodes.time.monotonic() < end;) {
      await nodes.time.advance(2000);
      for (const sentence of sentences()) seen.add(sentence);
    }
    expect([...seen]).toEqual([expect.stringContaining('without a definition'), expect.stringContaining('"job"')]);
    expect(sentences()).toEqual([]);
  });

  it('is announced long enough for an objection, also where definitions are put there without delay', async () => {
    const nodes = cluster();
    const node = await start(nodes, { definitionsDelay: 0 });
    const stateOf = async () => decodeShardRoot((await nodes.raw.records.read(ROOT_KEY))!).state;
    await nodes.time.advance(1500);
    expect(await stateOf()).toBe('announced');
    await nodes.time.advance(1500);
    expect(await stateOf()).toBe('open');
    expect(await node.gatekeeper.tryAcquire('job')).toBeDefined();
  });

  it('whose writes get no answer is reported, and goes on when they do', async () => {
    const nodes = cluster();
    const node = await start(nodes);
    let isSilent = true;
    node.store.script = (call, go, key) =>
      isSilent && call === 'compareAndSet' && key === ROOT_KEY ? new Promise(() => undefined) : go();
    await nodes.time.advance(30_000);
    expect(node.of('store-lost').length).toBeGreaterThan(0);
    isSilent = false;
    await nodes.time.advance(30_000);
    expect(decodeShardRoot((await nodes.raw.records.read(ROOT_KEY))!).state).toBe('open');
  });

  it('is awaited by a call while it goes on, by its creator and by others, however slowly the store writes', async () => {
    const nodes = cluster();
    const [creator, other] = [nodes, nodes].map((of) => of.unstarted({ definitions: [JOB], definitionsDelay: 0 }));
    for (const { store } of [creator!, other!])
      store.script = async (call, go) => {
        // Just below the callTimeout of 2 s: the steps of a birth take about 10 s.
        if (call === 'compareAndSet') await new Promise<void>((resolve) => nodes.time.schedule(resolve, 1900));
        return go();
      };
    await Promise.all([creator!.gatekeeper.start(), other!.gatekeeper.start()]);
    const calls = [creator!, other!].map(({ gatekeeper }) => gatekeeper.tryAcquire(NAME, SHORT));
    await nodes.time.advance(90_000);
    expect((await Promise.all(calls)).filter(Boolean)).toHaveLength(1);
  });

  it('lets calls that wait for it end when their node shuts down', async () => {
    const nodes = cluster();
    const node = nodes.unstarted({ definitions: [JOB], definitionsDelay: 0 });
    node.store.script = async (call, go) => {
      if (call === 'compareAndSet') await new Promise<void>((resolve) => nodes.time.schedule(resolve, 1900));
      return go();
    };
    await node.gatekeeper.start();
    let isOver = false;
    const taken = node.gatekeeper.tryAcquire(NAME, SHORT).finally(() => (isOver = true));
    // Longer than a call waits for shards that no node makes.
    await nodes.time.advance(6000);
    expect(isOver).toBe(false);
    const closed = node.gatekeeper.close();
    await nodes.time.advance(10_000);
    await closed;
    expect(await taken).toBeUndefined();
  });

  it('is finished by another node when its creator died', async () => {
    const nodes = cluster();
    const creating = encodeShardRoot({ nonce: 'dead', id: 'dead', state: 'creating' });
    await nodes.raw.records.compareAndSet(ROOT_KEY, undefined, creating);
    const node = await start(nodes);
    await nodes.time.advance(20_000);
    expect(await node.gatekeeper.tryAcquire(NAME, SHORT)).toBeDefined();
  });

  it('is refused by a node that knows better: a root that it knew comes back under its id', async () => {
    const nodes = cluster();
    const old = await nodes.node();
    const { id } = decodeShardRoot((await nodes.raw.records.read(ROOT_KEY))!);
    nodes.loseAll();
    await start(nodes);
    await nodes.time.advance(30_000);
    expect(decodeShardRoot((await nodes.raw.records.read(ROOT_KEY))!)).toMatchObject({ id, state: 'open' });
    expect((await shards(nodes)).every(({ grace }) => grace !== undefined)).toBe(true);
    expect(await old.gatekeeper.tryAcquire(NAME, SHORT)).toBeUndefined();
  });

  it('does not count a semaphore of the package as a sign of an earlier life', async () => {
    const nodes = cluster();
    const record = { v: 1, nonce: 'n', seq: 1, at: 1, revision: 1, lastToken: 0, permits: [] };
    await nodes.raw.records.compareAndSet('semaphore:gatekeeper:sweep', undefined, JSON.stringify(record));
    const node = await start(nodes);
    await nodes.time.advance(12_000);
    expect(await node.gatekeeper.tryAcquire(NAME, SHORT)).toBeDefined();
  });

  it('counts a record of a former version as one', async () => {
    const nodes = cluster();
    const record = { v: 1, nonce: 'n', seq: 1, at: 1, revision: 1, lastToken: 0, permits: [] };
    await nodes.raw.records.compareAndSet('semaphore:former', undefined, JSON.stringify(record));
    const node = await start(nodes);
    const taking = node.gatekeeper.tryAcquire(NAME, SHORT);
    await nodes.time.advance(12_000);
    expect(await taking).toBeUndefined();
    expect(node.of('denied')).toMatchObject([{ semaphore: NAME, reason: 'recovering' }]);
  });
});

describe('a root that can not be read', () => {
  const cluster = useCluster();
  const withBadRoot = async (text: string) => {
    const nodes = cluster();
    await nodes.raw.records.compareAndSet(ROOT_KEY, undefined, text);
    const node = nodes.unstarted({ definitions: [JOB], definitionsDelay: 0 });
    await node.gatekeeper.start();
    return { nodes, node };
  };
  const newer = JSON.stringify({ v: 9 });

  it.each(['rubbish', newer])('(%s) is reported once, not at each look, and left as it is', async (text) => {
    const { nodes, node } = await withBadRoot(text);
    await nodes.time.advance(60_000);
    expect(node.of('problem').length).toBe(1);
    expect(await nodes.raw.records.read(ROOT_KEY)).toBe(text);
  });

  it('is no outage of the store, but a fault that health shows', async () => {
    const { nodes, node } = await withBadRoot('rubbish');
    for (let each = 0; each < 6; each++) {
      const taking = node.gatekeeper.tryAcquire(NAME, SHORT);
      await Promise.all([
        expect(taking).rejects.toThrow("the root of the names on demand can't be read (it is not JSON)"),
        nodes.time.advance(10_000),
      ]);
    }
    const types = new Set(node.events.map(({ type }) => type));
    expect([...types]).toEqual(['problem']);
    const { faults, status } = node.gatekeeper.health();
    expect(faults).toMatchObject([{ code: 'shards-unread', stopsGrants: false }]);
    expect(status).toBe('degraded');
  });

  it('is read again once it was removed', async () => {
    const { nodes, node } = await withBadRoot('rubbish');
    await nodes.time.advance(10_000);
    nodes.lose(ROOT_KEY);
    await nodes.time.advance(20_000);
    expect(node.gatekeeper.health().faults).toEqual([]);
    expect(await node.gatekeeper.tryAcquire(NAME, SHORT)).toBeDefined();
  });

  it('keeps a node with history from no shard that was unreadable and can be read again', async () => {
    const nodes = cluster();
    await nodes.bear();
    const key = SHARD_PREFIX + '0';
    await nodes.raw.records.compareAndSet(key, await nodes.raw.records.read(key), 'rubbish');
    await nodes.node();
    await nodes.raw.records.compareAndSet(ROOT_KEY, await nodes.raw.records.read(ROOT_KEY), newer);
    nodes.lose(key);
    await nodes.time.advance(60_000);
    expect(decodeShard('0', (await nodes.raw.records.read(key))!).grace).toBeDefined();
    expect(await nodes.raw.records.read(ROOT_KEY)).toBe(newer);
  });
});

describe('shards that can not be read for longer than a birth takes', () => {
  const cluster = useCluster();

  it('are a fault that health shows, also without the reason', async () => {
    const nodes = cluster();
    const node = nodes.unstarted({ definitions: [JOB], definitionsDelay: 0, heartbeat: '1s' });
    const write = node.store.records.compareAndSet.bind(node.store.records);
    // The answers for the root are lost: each attempt begins anew. Others arrive, so the store itself has no fault.
    node.store.records.compareAndSet = async (key, ...rest) => {
      if (key === ROOT_KEY) throw new UnknownOutcomeError(key);
      return write(key, ...rest);
    };
    await node.gatekeeper.start();
    const codes = () => node.gatekeeper.health().faults.map(({ code }) => code);
    await nodes.time.advance(20_000);
    expect(codes()).toEqual([]);
    await nodes.time.advance(20_000);
    expect(codes()).toEqual(['shards-unread']);
  });
});
