import { createRecord, encodeRecord, parseDefinition } from '../../../lib/core/decision/index.js';
import { partsOf } from '../../../lib/gatekeeper/parts.js';
import { JOB, type TestCluster, type TestNode, useCluster } from '../../support/nodes.js';

const SWEEP = 'gatekeeper:sweep';
const MINUTE = 60_000;

/** A node whose process is gone: it asks and answers nothing any more. */
function dies({ store }: TestNode): void {
  store.script = () => new Promise(() => undefined);
}

/** The node that has the turn to sweep. */
async function sweeper(nodes: TestCluster, all: readonly TestNode[]): Promise<TestNode> {
  const { permits } = await nodes.record(SWEEP);
  return all.find(({ gatekeeper }) => gatekeeper.node.instance === permits[0]!.holder)!;
}

const NONE = { definitions: [] };
const namesIn = ({ gatekeeper }: TestNode) => {
  const { inUse, own } = partsOf(gatekeeper).directory;
  return [...[...inUse].map(([name]) => name), ...[...own.all()].map(({ name }) => name)];
};
const watchedBy = ({ gatekeeper }: TestNode) => [...partsOf(gatekeeper).semaphoreSync.watched].map(({ name }) => name);

describe('the sweep of a cluster', () => {
  const cluster = useCluster();

  /** Nodes that know nothing, and one that defines and may use "job" and "idle". */
  async function three() {
    const nodes = cluster();
    const all = [await nodes.node(NONE), await nodes.node(NONE), await nodes.node(NONE)];
    const holder = await nodes.node({ definitions: [JOB, { ...JOB, name: 'idle' }], sweepInterval: '1h' });
    return { nodes, all, holder };
  }

  it('is done by one node at a time', async () => {
    const { nodes, all } = await three();
    await nodes.time.advance(2 * MINUTE);
    const pages = all.map(({ store }) => store.calls.page);
    expect(pages.filter((count) => count > 0)).toHaveLength(1);
    expect(pages.find((count) => count > 0)).toBeGreaterThan(8);
  });

  it('reads the turn, the root and the shards on a node whose turn it is not and that knows nothing', async () => {
    const { nodes, all } = await three();
    await nodes.time.advance(MINUTE);
    const idle = all.find(({ store }) => store.calls.page === 0)!;
    const { now: _now, ...before } = { ...idle.store.calls };
    await nodes.time.advance(MINUTE);
    const { now: _then, ...after } = idle.store.calls;
    expect(after).toEqual({ ...before, read: after.read, readMany: after.readMany });
    expect(after.read - before.read).toBeLessThanOrEqual(14);
    expect(after.readMany - before.readMany).toBeLessThanOrEqual(7);
  });

  it('passes to another node within its lease when the sweeper dies', async () => {
    const { nodes, all } = await three();
    await nodes.time.advance(MINUTE);
    const first = await sweeper(nodes, all);
    dies(first);
    await nodes.time.advance(40_000);
    const second = await sweeper(nodes, all);
    expect(second).not.toBe(first);
    expect(second.store.calls.page).toBeGreaterThan(0);
  });

  it('passes to another node at once when the sweeper closes', async () => {
    const { nodes, all } = await three();
    await nodes.time.advance(MINUTE);
    const first = await sweeper(nodes, all);
    const closing = first.gatekeeper.close();
    await nodes.time.advance(12_000);
    await closing;
    expect(await sweeper(nodes, all)).not.toBe(first);
  });

  it('leaves no trace of itself in events, logs, lists and bulk changes', async () => {
    const { nodes, all, holder } = await three();
    await nodes.time.advance(MINUTE);
    dies(await sweeper(nodes, all));
    await nodes.time.advance(MINUTE);
    expect(JSON.stringify([...all, holder].map(({ events }) => events))).not.toContain(SWEEP);
    expect([...all, holder].flatMap(({ log }) => log).join()).not.toContain(SWEEP);
    const { semaphores } = await holder.gatekeeper.overview();
    expect(semaphores.map(({ name }) => name)).toEqual(['idle', 'job']);
    expect((await holder.gatekeeper.overview(SWEEP)).semaphores).toEqual([]);
    expect((await holder.gatekeeper.definitions.pauseAll({ names: '.*' })).done).toEqual(['idle', 'job']);
  });

  it('goes on without the permit where a foreign program wrote over its record', async () => {
    const { nodes, all, holder } = await three();
    await holder.gatekeeper.tryAcquire('job');
    await nodes.overwrite('not JSON', SWEEP);
    dies(holder);
    await nodes.time.advance(MINUTE);
    expect((await nodes.record()).permits).toEqual([]);
    expect(all.flatMap(({ log }) => log.filter((line) => !/^(debug|log)/.test(line)))).toEqual([]);
  });

  it('frees the permits of a dead node that no other node knows, and forgets the record then', async () => {
    const { nodes, all, holder } = await three();
    await holder.gatekeeper.tryAcquire('job');
    dies(holder);
    await nodes.time.advance(12_000);
    expect(all.flatMap(watchedBy)).toEqual(['job']);
    await nodes.time.advance(30_000);
    expect((await nodes.record()).permits).toEqual([]);
    expect(all.flatMap(({ of }) => of('expired'))).toMatchObject([{ semaphore: 'job' }]);
    await nodes.time.advance(12_000);
    expect(all.flatMap(watchedBy)).toEqual([]);
    expect(all.flatMap(namesIn)).toEqual([]);
  });

  it('restores a record with a permit that only a dead node knew, with grace', async () => {
    const { nodes, holder } = await three();
    await nodes.time.advance(11_000);
    await holder.gatekeeper.tryAcquire('job', { duration: '5m' });
    await nodes.time.advance(11_000);
    dies(holder);
    await nodes.overwrite(undefined);
    await nodes.time.advance(11_000);
    expect(await nodes.record()).toMatchObject({ grace: expect.anything(), permits: [{ duration: 300_000 }] });
  });

  it("restores a record with an operator's change that no living node knows", async () => {
    const { nodes, holder } = await three();
    const { definitions } = holder.gatekeeper;
    await definitions.pause('idle', { by: 'ann' });
    await definitions.edit('job', { duration: '20s' }, { by: 'bea' });
    await nodes.time.advance(11_000);
    dies(holder);
    for (const name of ['idle', 'job']) await nodes.overwrite(undefined, name);
    await nodes.time.advance(11_000);
    expect(await nodes.record('idle')).toMatchObject({ pause: { by: 'ann' }, grace: expect.anything() });
    expect(await nodes.record('job')).toMatchObject({ change: { by: 'bea' }, grace: expect.anything() });
  });

  it('harms nothing when two nodes sweep at once: a lease that goes on is not freed, one that is over is freed once', async () => {
    const nodes = cluster();
    const holder = await nodes.node({ definitions: [JOB, { ...JOB, name: 'kept' }], sweepInterval: '1h' });
    const others = [await nodes.node(NONE), await nodes.node(NONE)];
    await holder.gatekeeper.tryAcquire('job');
    await holder.gatekeeper.tryAcquire('kept', { duration: '5m' });
    const both = others.map(({ gatekeeper }) => partsOf(gatekeeper).semaphoreSync);
    for (let second = 0; second < 60; second++) {
      // As if neither saw the other's permit.
      await nodes.overwrite('not JSON', SWEEP);
      await Promise.all(both.map((each) => each.sweep()));
      await nodes.time.advance(1000);
    }
    expect((await nodes.record('kept')).permits).toHaveLength(1);
    expect((await nodes.record()).permits).toEqual([]);
    expect(others.flatMap(({ of }) => of('expired'))).toHaveLength(1);
    expect(others.flatMap(({ of }) => of('clock-suspect'))).toEqual([]);
  });

  it('takes no page for news that it read before it was frozen', async () => {
    const nodes = cluster();
    const dead = await nodes.node({ definitions: [{ ...JOB, name: 'over' }], sweepInterval: '1h' });
    const holder = await nodes.node({ sweepInterval: '1h' });
    const { store, of } = await nodes.node(NONE);
    await dead.gatekeeper.tryAcquire('over');
    dies(dead);
    const permit = (await holder.gatekeeper.tryAcquire('job', { duration: '10m' }))!;
    let listedAt: number | undefined;
    let isFrozen = false;
    store.script = async (call, go) => {
      const answer = await go();
      if (call === 'page') listedAt = nodes.time.monotonic();
      // It frees what is over in one record, and has the text of the next one in hand.
      if (call === 'compareAndSet' && listedAt === nodes.time.monotonic() && !isFrozen) {
        isFrozen = true;
        nodes.time.freeze(10_000);
        await permit.refresh();
        nodes.time.freeze(10_000);
      }
      return answer;
    };
    await nodes.time.advance(40_000);
    expect(isFrozen).toBe(true);
    await nodes.time.advance(MINUTE);
    expect((await nodes.record()).permits).toMatchObject([{ id: permit.id }]);
    expect(of('restored')).toEqual([]);
    expect(of('clock-suspect')).toEqual([]);
  });

  it('claims the names of records that a former version wrote, and keeps none of them in memory', async () => {
    const nodes = cluster();
    const names = ['old 1', 'old 2'];
    for (const name of names) {
      const former = createRecord(parseDefinition({ ...JOB, name }, 0), nodes.time.cluster(), 'former');
      await nodes.overwrite(encodeRecord(former), name);
    }
    const node = await nodes.node(NONE);
    await nodes.time.advance(12_000);
    const { shards } = partsOf(node.gatekeeper).directory;
    expect(names.map((name) => shards.isClaimed(name))).toEqual([true, true]);
    await nodes.time.advance(12_000);
    expect([...watchedBy(node), ...namesIn(node)]).toEqual([]);
  });

  it('ends where a freeze lasted longer than the turn', async () => {
    const nodes = cluster();
    const holder = await nodes.node({ sweepInterval: '1h' });
    const { store, of } = await nodes.node(NONE);
    const permit = (await holder.gatekeeper.tryAcquire('job', { duration: '10m' }))!;
    await nodes.time.advance(11_000);
    let isFrozen = false;
    store.script = async (call, go) => {
      const answer = await go();
      if (call !== 'page' || isFrozen) return answer;
      isFrozen = true;
      nodes.time.freeze(MINUTE);
      await permit.refresh();
      nodes.time.freeze(MINUTE);
      return answer;
    };
    await nodes.time.advance(11_000);
    expect(isFrozen).toBe(true);
    await nodes.time.advance(MINUTE);
    expect((await nodes.record()).permits).toMatchObject([{ id: permit.id }]);
    expect([...of('expired'), ...of('restored')]).toEqual([]);
  });
});
