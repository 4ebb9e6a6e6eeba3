import { type UndoStep, memory } from 'nestjs-gatekeeper';
import { JOB, type TestCluster, useCluster } from '../../support/nodes.js';

const FOUR = ['a.one', 'a.two', 'b.one', 'b.two'].map((name) => ({ ...JOB, name, groupPattern: 'production' }));
/** Number of entries that the log of the store in memory keeps. */
const CAPACITY = 10_000;

/** Other programs write into the log, which then drops its oldest entries. */
function fill({ raw }: TestCluster, count: number): Promise<void> {
  return raw.journal('audit').append(Array.from({ length: count }, () => '{}'));
}

const undone = (step: UndoStep) => ({ ...step, outcome: 'undone' });

describe('the undo of a change of many in a full log', () => {
  const cluster = useCluster();

  async function migrated() {
    const nodes = cluster();
    const node = await nodes.node({ definitions: FOUR });
    const patterns = async () =>
      Object.fromEntries((await node.gatekeeper.state()).semaphores.map(({ name, definition }) => [name, definition]));
    const before = await patterns();
    const { bulk } = await node.gatekeeper.definitions.migrate({ to: { groupPattern: 'dr' } });
    await nodes.time.advance(200);
    return { nodes, node, before, patterns, bulk: bulk! };
  }

  it('says how many parts a full log has dropped, and undoes the others', async () => {
    const { nodes, node, before, patterns, bulk } = await migrated();
    await fill(nodes, CAPACITY - 2);
    const { definitions } = node.gatekeeper;
    const plan = await definitions.planUndo(bulk);
    expect(plan).toMatchObject({ steps: [{ name: 'b.one' }, { name: 'b.two' }], remaining: 0, missing: 2 });
    expect(await definitions.undo(bulk)).toMatchObject({ steps: plan.steps.map(undone), remaining: 0, missing: 2 });
    expect(await patterns()).toMatchObject({ 'a.one': { groupPattern: 'dr' }, 'b.one': before['b.one'] });
  });

  it('counts the parts of a change that another node went on with', async () => {
    const nodes = cluster();
    const node = await nodes.node({ definitions: FOUR });
    const other = await nodes.node({ definitions: FOUR });
    const { bulk } = await node.gatekeeper.definitions.pauseAll({ limit: 2 });
    await nodes.time.advance(200);
    await other.gatekeeper.definitions.pauseAll({ bulk });
    await nodes.time.advance(200);
    expect((await node.gatekeeper.audit.read(4)).map(({ part }) => part)).toEqual([1, 2, 3, 4]);
    await fill(nodes, CAPACITY - 1);
    expect(await node.gatekeeper.definitions.planUndo(bulk)).toMatchObject({ steps: [{ name: 'b.two' }], missing: 3 });
  });

  it('misses no part that it pushes out of a full log itself', async () => {
    const { nodes, node, before, patterns, bulk } = await migrated();
    await fill(nodes, CAPACITY - FOUR.length);
    const { definitions } = node.gatekeeper;
    const first = await definitions.undo(bulk, { limit: 3 });
    expect(first).toMatchObject({ remaining: 1, missing: 0 });
    const second = await definitions.undo(bulk, { limit: 3, bulk: first.bulk! });
    expect(second).toMatchObject({ steps: [{ name: 'b.two', outcome: 'undone' }], remaining: 0, missing: 0 });
    expect(await patterns()).toEqual(before);
  });

  it('reads all of the log, whatever its capacity is', async () => {
    const { nodes, bulk } = await migrated();
    const journal = nodes.raw.journal('audit');
    const texts = [...(await journal.read(CAPACITY)), ...Array.from({ length: 2 * CAPACITY }, () => '{}')];
    const store = memory();
    const open = (...args: Parameters<typeof store.open>) =>
      Object.assign(store.open(...args), {
        journal: () => ({ append: async () => {}, read: async (limit: number) => texts.slice(-limit) }),
      });
    const large = await nodes.node({ definitions: FOUR, store: { ...store, open } });
    const plan = await large.gatekeeper.definitions.planUndo(bulk);
    expect(plan).toMatchObject({ steps: { length: 4 }, missing: 0 });
    expect(Object.keys(plan).toSorted()).toEqual(['at', 'by', 'id', 'missing', 'remaining', 'steps']);
  });
});
