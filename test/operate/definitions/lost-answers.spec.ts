import { EditConflictError } from 'nestjs-gatekeeper';
import { failWrite, faultsOfWrites, toldOutage } from '../../support/faulty-writes.js';
import { JOB, type TestNode, useCluster } from '../../support/nodes.js';
import { JOBS, pausedOf, throughout, two } from './windows.js';

const NAMES = JOBS.map(({ name }) => name);
const REQUEST = { window: 'db', names: '.*', by: 'ann' };

/** The semaphores that windows hold, as any node sees them. */
async function heldBy({ gatekeeper }: TestNode): Promise<string[]> {
  return (await gatekeeper.definitions.maintenance.list()).flatMap(({ semaphores }) => semaphores);
}

describe('a maintenance window', () => {
  const cluster = useCluster();

  it.each(faultsOfWrites(10))(
    'starts completely with a second call, when write %d of the first %s',
    async (write, fault) => {
      const nodes = cluster();
      const [node, other] = await two(nodes);
      const faulty = failWrite(node!, write, fault);
      const { maintenance } = node!.gatekeeper.definitions;
      await throughout(nodes, toldOutage(maintenance.start(REQUEST)));
      expect(faulty.hasFailed).toBe(true);
      expect(await heldBy(other!)).toEqual(await pausedOf(other!));
      faulty.mend();
      expect(await throughout(nodes, maintenance.start(REQUEST))).toMatchObject({ left: [], failed: [], remaining: 0 });
      expect(await pausedOf(other!)).toEqual(NAMES);
      expect(await maintenance.get('db')).toMatchObject({ phase: 'on', semaphores: NAMES });
      await throughout(nodes, maintenance.end('db'));
      expect(await pausedOf(other!)).toEqual([]);
    },
  );

  it.each(faultsOfWrites(8))(
    'ends completely with a second call, when write %d of the first %s',
    async (write, fault) => {
      const nodes = cluster();
      const [node, other] = await two(nodes);
      const { maintenance } = node!.gatekeeper.definitions;
      await node!.gatekeeper.definitions.pause('a-one', { by: 'bob' });
      await maintenance.start(REQUEST);
      await nodes.time.advance(1000);
      const faulty = failWrite(node!, write, fault);
      await throughout(nodes, toldOutage(maintenance.end('db')));
      expect(faulty.hasFailed).toBe(true);
      expect(await pausedOf(other!)).toEqual(['a-one', ...(await heldBy(other!))].toSorted());
      faulty.mend();
      // An end whose last answer was lost is complete.
      const isOver = (await maintenance.list()).length === 0;
      const { left } = isOver ? { left: [] } : await throughout(nodes, maintenance.end('db'));
      expect(left).toEqual([]);
      expect(await pausedOf(other!)).toEqual(['a-one']);
      expect(await maintenance.list()).toEqual([]);
    },
  );
});

describe('an undo', () => {
  const cluster = useCluster();

  async function entryOf(node: TestNode, action: string): Promise<{ id?: string; bulk?: string }> {
    return (await node.gatekeeper.audit.read(100)).findLast((entry) => entry.action === action)!;
  }

  it.each(faultsOfWrites(5))(
    'of an edit is made once by two calls, when write %d of the first %s',
    async (write, fault) => {
      const nodes = cluster();
      const node = await nodes.node();
      const { definitions, audit } = node.gatekeeper;
      await definitions.edit('job', { permits: 5 }, { by: 'ann' });
      await nodes.time.advance(1000);
      const { id } = await entryOf(node, 'edit');
      const faulty = failWrite(node, write, fault);
      await throughout(nodes, toldOutage(definitions.undo(id!, { by: 'bob' })));
      await nodes.time.advance(1000);
      expect(faulty.hasFailed).toBe(true);
      faulty.mend();
      await throughout(nodes, definitions.undo(id!, { by: 'bob' }));
      await nodes.time.advance(10_000);
      expect(await definitions.get('job')).toMatchObject({ definition: { permits: 1 }, revision: 3 });
      const undos = (await audit.read(100)).filter(({ undoes }) => undoes === id);
      // An addition to the log without an answer is made again, with the same id. A change without an answer may have an entry.
      expect(new Set(undos.map((entry) => entry.id)).size).toBeLessThanOrEqual(1);
    },
  );

  it.each(faultsOfWrites(7))(
    'of a change of many is made once by two calls, when write %d of the first %s',
    async (write, fault) => {
      const nodes = cluster();
      const [node, other] = await two(nodes);
      const { definitions } = node!.gatekeeper;
      await definitions.pause('a-one', { by: 'bob' });
      const { bulk } = await definitions.pauseAll({ by: 'ann' });
      await nodes.time.advance(1000);
      const faulty = failWrite(node!, write, fault);
      await throughout(nodes, toldOutage(definitions.undo(bulk, { by: 'bob' })));
      await nodes.time.advance(1000);
      expect(faulty.hasFailed).toBe(true);
      faulty.mend();
      const { steps, remaining } = await throughout(nodes, definitions.undo(bulk, { by: 'bob' }));
      expect(remaining).toBe(0);
      for (const { outcome } of steps) expect(['undone', 'unchanged']).toContain(outcome);
      expect(await pausedOf(other!)).toEqual(['a-one']);
      const revisions = await Promise.all(NAMES.map((name) => other!.gatekeeper.definitions.get(name)));
      expect(revisions.map((state) => state!.revision)).toEqual([2, 3, 3, 3]);
    },
  );

  it.each(faultsOfWrites(3))('of a removal defines the name once, when write %d %s', async (write, fault) => {
    const nodes = cluster();
    const node = await nodes.node({ definitions: [JOB] });
    const { definitions } = node.gatekeeper;
    await definitions.define({ name: 'by-hand', duration: '20s' }, { by: 'ann' });
    await definitions.remove('by-hand', { by: 'ann' });
    await nodes.time.advance(1000);
    const { id } = await entryOf(node, 'remove');
    const faulty = failWrite(node, write, fault);
    await throughout(nodes, toldOutage(definitions.undo(id!)));
    expect(faulty.hasFailed).toBe(true);
    faulty.mend();
    await throughout(nodes, definitions.undo(id!));
    expect((await definitions.get('by-hand'))!.definition.duration).toBe(20_000);
    await definitions.edit('by-hand', { permits: 2 }, { by: 'ann' });
    await expect(definitions.undo(id!)).rejects.toThrow(EditConflictError);
  });
});
