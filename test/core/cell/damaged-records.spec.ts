import { HIGHEST_COUNT } from '../../../lib/core/decision/index.js';
import { removed } from '../../support/removed.js';
import { JOB, type TestCluster, type TestNode, useCluster } from '../../support/nodes.js';

const KEY = 'semaphore:job';
const BY = { by: 'ann' };
const COUNTS = ['seq', 'lastToken', 'revision'] as const;
const TOO_HIGH = [HIGHEST_COUNT + 1, 9e15, Number.MAX_SAFE_INTEGER, 2 ** 53, 1e300];
const DAMAGED = [
  ['is no JSON', 'damaged'],
  ['is empty', ''],
  ['is another value', '42'],
  ['has a wrong field', '{"v":1,"seq":-1}'],
] as const;

const text = (nodes: TestCluster) => nodes.raw.records.read(KEY);

describe('a record whose counts are damaged or forged', () => {
  const cluster = useCluster();

  /** Two nodes that know the record as it was before. */
  async function damaged(changes: object) {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    await nodes.overwrite(JSON.stringify({ ...(await nodes.record()), ...changes }));
    return { nodes, one, other };
  }

  for (const count of COUNTS) {
    it.each(TOO_HIGH)(`grants nothing and stays as it is (${count} %d)`, async (value) => {
      const { nodes, one, other } = await damaged({ [count]: value });
      const before = await text(nodes);
      for (const { gatekeeper } of [one, other])
        await expect(gatekeeper.tryAcquire('job')).rejects.toMatchObject({ code: 'corrupt-record' });
      await nodes.time.advance(60_000);
      expect(await text(nodes)).toBe(before);
    });

    it.each([HIGHEST_COUNT, 9e15])(`can be reset, and then all nodes go on (${count} %d)`, async (value) => {
      const { nodes, one, other } = await damaged({ [count]: value });
      for (const { gatekeeper } of [one, other]) await gatekeeper.tryAcquire('job').catch(() => undefined);
      await one.gatekeeper.definitions.reset('job', BY);
      await nodes.time.advance(60_000);
      for (const { gatekeeper } of [other, one]) {
        const permit = (await gatekeeper.tryAcquire('job'))!;
        expect(permit.token).toBeLessThan(HIGHEST_COUNT);
        await permit.release();
      }
      const { [count]: left } = (await nodes.record()) as unknown as Record<typeof count, number>;
      expect(left).toBeLessThan(HIGHEST_COUNT / 2);
    });
  }

  it.each([
    ['seq', (node: TestNode) => node.gatekeeper.tryAcquire('job')],
    ['lastToken', (node: TestNode) => node.gatekeeper.tryAcquire('job')],
    ['revision', (node: TestNode) => node.gatekeeper.definitions.edit('job', { permits: 5 })],
  ] as const)('is not written again when the next %s could not be read', async (count, write) => {
    const { nodes, one } = await damaged({ [count]: HIGHEST_COUNT });
    const before = await text(nodes);
    await expect(write(one)).rejects.toMatchObject({ code: 'corrupt-record' });
    expect(await text(nodes)).toBe(before);
  });

  it('is not believed when a hint brings it', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    const before = await text(nodes);
    store.tell({ key: KEY, text: JSON.stringify({ ...(await nodes.record()), seq: 9e15 }) });
    await nodes.time.advance(1000);
    expect(await text(nodes)).toBe(before);
    expect(await gatekeeper.tryAcquire('job')).toBeDefined();
  });

  it.each(['duration', 'expiresAt'])('grants nothing when a grace has a %s that no lease may have', async (field) => {
    const grace = { id: 'grace-x', expiresAt: 1, duration: 1, [field]: Number.MAX_SAFE_INTEGER };
    const { one } = await damaged({ grace });
    await expect(one.gatekeeper.tryAcquire('job')).rejects.toMatchObject({ code: 'corrupt-record' });
  });
});

describe("a record that can't be read", () => {
  const cluster = useCluster();

  it.each(DAMAGED)(
    'and %s can be reset: then it has a grace, the definition of code, and an author',
    async (_, damage) => {
      const nodes = cluster();
      await nodes.overwrite(damage);
      const { gatekeeper } = await nodes.node();
      expect(await gatekeeper.definitions.reset('job', BY)).toMatchObject({ definition: { name: 'job', permits: 1 } });
      expect(await gatekeeper.tryAcquire('job')).toBeUndefined();
      expect(await nodes.record()).toMatchObject({ change: { kind: 'reset', by: 'ann' }, grace: { duration: 10_000 } });
      await nodes.time.advance(12_000);
      expect(await gatekeeper.tryAcquire('job')).toBeDefined();
    },
  );

  it('and whose reset gets no answer may have been reset, or not: no error says that it surely was not', async () => {
    const nodes = cluster();
    await nodes.overwrite('garbage');
    const { gatekeeper, store } = await nodes.node();
    store.script = (call, go, key) =>
      call === 'compareAndSet' && key === KEY ? go().then(() => new Promise(() => undefined)) : go();
    const reset = gatekeeper.definitions.reset('job', BY).catch((error: unknown) => error);
    await nodes.time.advance(10_000);
    expect(await reset).toMatchObject({ code: 'unknown-outcome' });
    expect(await nodes.record()).toMatchObject({ grace: { duration: 10_000 } });
  });

  it.each(DAMAGED)('and %s can be removed', async (_, damage) => {
    const nodes = cluster();
    await nodes.overwrite(damage);
    const { gatekeeper } = await nodes.node();
    expect(await removed(gatekeeper, 'job', BY)).toBe(true);
    expect(await nodes.record()).toMatchObject({ change: { kind: 'remove' }, permits: [] });
    expect(await gatekeeper.definitions.get('job')).toBeUndefined();
  });

  it('is reset once and for all: nodes that knew it do not undo that', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    for (let i = 2; i < 6; i++) await other.gatekeeper.definitions.edit('job', { permits: i });
    await nodes.overwrite('damaged');
    const late = await nodes.node();
    await late.gatekeeper.definitions.reset('job', BY);
    await nodes.time.advance(60_000);
    for (const { gatekeeper } of [one, other, late])
      expect(await gatekeeper.definitions.get('job')).toMatchObject({
        definition: { permits: 1 },
        change: { by: 'ann' },
      });
    for (const { of } of [one, other]) expect(of('restored')).toEqual([]);
  });

  it('keeps the permits that this node knows when it is reset', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node({ definitions: [{ ...JOB, duration: '60s' }] });
    const permit = (await gatekeeper.tryAcquire('job'))!;
    await nodes.overwrite('damaged');
    await gatekeeper.definitions.reset('job', BY);
    expect((await nodes.record()).permits).toMatchObject([{ id: permit.id }]);
    expect(permit.isHeld).toBe(true);
  });

  it('is kept when the operator expects a revision, or changes something else', async () => {
    const nodes = cluster();
    await nodes.overwrite('damaged');
    const { gatekeeper } = await nodes.node();
    const corrupt = { code: 'corrupt-record' };
    await expect(gatekeeper.definitions.reset('job', { ...BY, expectedRevision: 1 })).rejects.toMatchObject(corrupt);
    await expect(gatekeeper.definitions.pause('job', BY)).rejects.toMatchObject(corrupt);
    expect(await text(nodes)).toBe('damaged');
  });

  it('is kept when a newer version wrote it', async () => {
    const nodes = cluster();
    await nodes.overwrite('{"v":9}');
    const { gatekeeper } = await nodes.node();
    await expect(gatekeeper.definitions.reset('job', BY)).rejects.toMatchObject({ code: 'newer-record' });
    expect(await text(nodes)).toBe('{"v":9}');
  });

  it('of a leadership can be reset, and then a node leads again', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node({ leadership: { enabled: true } });
    await gatekeeper.cluster.initialize();
    await nodes.time.advance(1000);
    expect(gatekeeper.cluster.scope().isLeader).toBe(true);
    await nodes.overwrite(
      JSON.stringify({ ...(await nodes.record('leader:default')), lastToken: 9e15 }),
      'leader:default',
    );
    await nodes.time.advance(30_000);
    expect(gatekeeper.cluster.scope().isLeader).toBe(false);
    await gatekeeper.definitions.reset('leader:default', BY);
    await nodes.time.advance(60_000);
    expect(gatekeeper.cluster.scope().isLeader).toBe(true);
  });
});
