import { settled } from '../../support/fake-time.js';
import { JOB, useCluster } from '../../support/nodes.js';

const KEY = 'semaphore:job';
const TEN_TIMES = Array.from({ length: 10 });

describe('a node that hears messages which any program may have sent', () => {
  const cluster = useCluster();

  /** A node that waits for nothing, and how often it asks the store during `work`. */
  async function listening() {
    const nodes = cluster();
    const node = await nodes.node({ definitions: [JOB], sweepInterval: '1h' });
    await nodes.time.advance(1000);
    const asked = async (work: () => unknown) => {
      const { now: _, ...before } = { ...node.store.calls };
      await work();
      await settled();
      return Object.entries(before).flatMap(([call, count]) => {
        const more = node.store.calls[call as keyof typeof before] - count;
        return more > 0 ? [[call, more]] : [];
      });
    };
    return { nodes, node, asked };
  }

  it('reads the record once, if it knows it', async () => {
    const { node, asked } = await listening();
    expect(await asked(() => node.store.tell({ key: KEY, isUnproven: true }))).toEqual([['readMany', 1]]);
  });

  it('reads and keeps nothing of a record that it does not know', async () => {
    const { node, asked } = await listening();
    const tell = () => TEN_TIMES.forEach((_, i) => node.store.tell({ key: `semaphore:other ${i}`, isUnproven: true }));
    expect(await asked(tell)).toEqual([]);
  });

  it('hears by one of them of a change that another node made', async () => {
    const { nodes, node } = await listening();
    const other = await nodes.node({ definitions: [JOB] });
    node.store.isDeaf = true;
    await other.gatekeeper.definitions.edit('job', { permits: 3 });
    node.store.tell({ key: KEY, isUnproven: true });
    await nodes.time.advance(0);
    expect(node.of('changed')).toMatchObject([{ semaphore: 'job', revision: 2 }]);
  });

  it('finds the loss of a record by one of them', async () => {
    const { nodes, node } = await listening();
    nodes.lose(KEY);
    node.store.tell({ key: KEY, isUnproven: true });
    await nodes.time.advance(0);
    expect(node.of('restored')).toHaveLength(1);
  });
});

describe('a node that hears hints of other nodes', () => {
  const cluster = useCluster();

  async function two() {
    const nodes = cluster();
    const [node, other] = [await nodes.node(), await nodes.node()];
    await nodes.time.advance(1000);
    return { nodes, node, other };
  }

  it('needs one round trip after their writes', async () => {
    const { nodes, node, other } = await two();
    await other.gatekeeper.definitions.edit('job', { permits: 3 });
    await nodes.time.advance(0);
    const { read, compareAndSet } = { ...node.store.calls };
    expect(await node.gatekeeper.tryAcquire('job')).toBeDefined();
    expect([node.store.calls.read - read, node.store.calls.compareAndSet - compareAndSet]).toEqual([0, 1]);
  });

  it('restores a write that the store has lost, and of which only a hint had told', async () => {
    const { nodes, node, other } = await two();
    const before = (await nodes.raw.records.read(KEY))!;
    await other.gatekeeper.definitions.edit('job', { permits: 3 });
    await nodes.time.advance(0);
    other.store.script = () => new Promise(() => undefined);
    await nodes.overwrite(before);
    await node.gatekeeper.tryAcquire('job');
    expect(node.of('restored')).toHaveLength(1);
    expect(await nodes.record()).toMatchObject({ definition: { permits: 3 }, grace: {} });
  });

  it('reads, and restores nothing, when an old hint comes once more', async () => {
    const { nodes, node, other } = await two();
    const old = (await nodes.raw.records.read(KEY))!;
    await other.gatekeeper.definitions.edit('job', { permits: 3 });
    await nodes.time.advance(0);
    const present = await nodes.raw.records.read(KEY);
    node.store.tell({ key: KEY, text: old });
    await nodes.time.advance(1000);
    expect(await nodes.raw.records.read(KEY)).toBe(present);
    expect(node.of('restored')).toEqual([]);
  });

  it('reads at most ten times a second when old hints come in a flood', async () => {
    const { nodes, node, other } = await two();
    const old = (await nodes.raw.records.read(KEY))!;
    await other.gatekeeper.definitions.edit('job', { permits: 3 });
    await nodes.time.advance(0);
    const { readMany, read } = { ...node.store.calls };
    for (let ms = 0; ms < 1000; ms += 10) {
      for (let i = 0; i < 100; i++) node.store.tell({ key: KEY, text: old });
      await nodes.time.advance(10);
    }
    expect(node.store.calls.readMany - readMany).toBeLessThanOrEqual(11);
    expect(node.store.calls.read - read).toBeLessThanOrEqual(2);
  });
});
