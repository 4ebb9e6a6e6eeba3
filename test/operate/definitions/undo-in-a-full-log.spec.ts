import { type AuditEntry, UndoRefusedError, UnknownEntryError } from 'nestjs-gatekeeper';
import { JOB, type TestCluster, useCluster } from '../../support/nodes.js';
import { pausedOf } from './windows.js';

const FOUR = ['a.one', 'a.two', 'b.one', 'b.two'].map((name) => ({ ...JOB, name, groupPattern: 'production' }));
/** Number of entries that the log of the store in memory keeps. */
const CAPACITY = 10_000;

/** Other programs write into the log, which then drops its oldest entries. */
function fill({ raw }: TestCluster, count = CAPACITY): Promise<void> {
  return raw.journal('audit').append(Array.from({ length: count }, () => '{}'));
}

describe('the undo of a change of many in a full log', () => {
  const cluster = useCluster();

  async function migrated() {
    const nodes = cluster();
    const node = await nodes.node({ definitions: FOUR });
    const patterns = async () =>
      Object.fromEntries((await node.gatekeeper.state()).semaphores.map(({ name, definition }) => [name, definition]));
    const before = await patterns();
    const { bulk } = await node.gatekeeper.definitions.migrate({ to: { groupPattern: 'dr' } }, { by: 'ann' });
    await nodes.time.advance(200);
    return { nodes, node, before, patterns, bulk: bulk! };
  }

  it('brings all back although the log has no entry of it any more, and can be undone itself', async () => {
    const { nodes, node, before, patterns, bulk } = await migrated();
    const moved = await patterns();
    await fill(nodes);
    const { definitions } = node.gatekeeper;
    const plan = await definitions.planUndo(bulk);
    expect(plan).toMatchObject({ id: bulk, by: 'ann', remaining: 0, missing: 0 });
    expect(Object.keys(plan).toSorted()).toEqual(['at', 'by', 'id', 'missing', 'remaining', 'steps']);
    const undo = await definitions.undo(bulk);
    expect(undo).toMatchObject({
      steps: plan.steps.map((step) => ({ ...step, outcome: 'undone' })),
      remaining: 0,
      missing: 0,
    });
    expect(await patterns()).toEqual(before);
    await fill(nodes);
    await definitions.undo(undo.bulk!);
    expect(await patterns()).toEqual(moved);
  });

  it('brings 1,200 definitions back, from another node, and reads nothing of the log', async () => {
    const nodes = cluster();
    const definitions = Array.from({ length: 1200 }, (_, index) => ({ ...JOB, name: `job-${index}` }));
    const [node, other] = [await nodes.node({ definitions }), await nodes.node({ definitions })];
    await node.gatekeeper.definitions.pause('job-7', { by: 'bob' });
    const { bulk } = await node.gatekeeper.definitions.pauseAll({ by: 'ann' });
    await nodes.time.advance(1000);
    await fill(nodes);
    const { readJournal } = other.store.calls;
    const { steps, missing } = await other.gatekeeper.definitions.undo(bulk);
    expect({ count: steps.filter(({ outcome }) => outcome === 'undone').length, missing }).toEqual({
      count: 1199,
      missing: 0,
    });
    expect(await pausedOf(node)).toEqual(['job-7']);
    expect(other.store.calls.readJournal).toBe(readJournal);
  });

  it('leaves alone what has changed since, and names it by the record', async () => {
    const { nodes, node, patterns, bulk } = await migrated();
    await node.gatekeeper.definitions.edit('a.two', { groupPattern: 'lab' }, { by: 'cleo' });
    await nodes.time.advance(200);
    await fill(nodes);
    const { steps } = await node.gatekeeper.definitions.undo(bulk);
    expect(steps.map(({ outcome }) => outcome)).toEqual(['undone', 'left', 'undone', 'undone']);
    expect(steps[1]!.why).toMatch(/^changed since \(edit by "cleo" at/);
    expect(await patterns()).toMatchObject({ 'a.two': { groupPattern: 'lab' } });
  });

  it('numbers the parts of a change that another node went on with', async () => {
    const nodes = cluster();
    const node = await nodes.node({ definitions: FOUR });
    const other = await nodes.node({ definitions: FOUR });
    const { bulk } = await node.gatekeeper.definitions.pauseAll({ limit: 2 });
    await nodes.time.advance(200);
    await other.gatekeeper.definitions.pauseAll({ bulk });
    await nodes.time.advance(200);
    expect((await node.gatekeeper.audit.read(4)).map(({ part }) => part)).toEqual([1, 2, 3, 4]);
    await fill(nodes);
    expect(await node.gatekeeper.definitions.planUndo(bulk)).toMatchObject({ steps: { length: 4 }, missing: 0 });
  });

  it('goes on where it stopped', async () => {
    const { nodes, node, before, patterns, bulk } = await migrated();
    await fill(nodes);
    const { definitions } = node.gatekeeper;
    const first = await definitions.undo(bulk, { limit: 3 });
    expect(first).toMatchObject({ remaining: 1, missing: 0 });
    await fill(nodes);
    const second = await definitions.undo(bulk, { limit: 3, bulk: first.bulk! });
    expect(second.steps.filter(({ outcome }) => outcome === 'undone').map(({ name }) => name)).toEqual(['b.two']);
    expect(second).toMatchObject({ remaining: 0, missing: 0 });
    expect(await patterns()).toEqual(before);
  });

  it('says how many parts the store has lost', async () => {
    const { nodes, node, patterns, bulk } = await migrated();
    const moved = await patterns();
    nodes.lose('change-sets:page/0');
    const { definitions } = node.gatekeeper;
    await expect(definitions.undo(bulk)).rejects.toThrow(UndoRefusedError);
    await definitions.migrate({ names: 'a.*', to: { groupPattern: 'lab' } }, { bulk });
    expect(await definitions.undo(bulk)).toMatchObject({ steps: { length: 2 }, missing: 4 });
    expect(await patterns()).toEqual(moved);
  });

  it('has no single change that the log has dropped', async () => {
    const { nodes, node } = await migrated();
    const [{ id }] = (await node.gatekeeper.audit.read(1)) as [AuditEntry];
    await fill(nodes);
    await expect(node.gatekeeper.definitions.undo(id!)).rejects.toThrow(UnknownEntryError);
  });
});
