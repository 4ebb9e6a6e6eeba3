import {
  type AuditEntry,
  StoreUnavailableError,
  UndoRefusedError,
  UnknownEntryError,
  UnknownOutcomeError,
} from 'nestjs-gatekeeper';
import { failWrite, faultsOfWrites, toldOutage } from '../../support/faulty-writes.js';
import { JOB, type TestNode, useCluster } from '../../support/nodes.js';
import {
  type NewSet,
  type SetHead,
  droppedFrom,
  withPages,
} from '../../../lib/operate/definitions/change-sets/change-set.js';
import { JOBS, before, pausedOf, throughout, two } from './windows.js';

const NAMES = JOBS.map(({ name }) => name);
const ROOT = 'change-sets:root';
const BULK = 'bulk.1';

/** The process of a node dies: this write and all later calls fail. */
function dieAt({ store }: TestNode, write: number): { readonly hasDied: boolean } {
  let count = 0;
  store.script = async (call, go) => {
    if (call === 'compareAndSet') count++;
    if (count >= write) throw new StoreUnavailableError('dead');
    return go();
  };
  return {
    get hasDied() {
      return count >= write;
    },
  };
}

describe('a change of many whose process dies', () => {
  const cluster = useCluster();

  /** Two nodes, of which one has died at a write of its pause of all. Its entries of the audit log are lost. */
  async function diedAt(write: number) {
    const nodes = cluster();
    const [node, other] = await two(nodes);
    const death = dieAt(node!, write);
    await node!.gatekeeper.definitions.pauseAll({ bulk: BULK, by: 'ann' }).catch(() => undefined);
    expect(death.hasDied).toBe(true);
    return { nodes, other: other!, definitions: other!.gatekeeper.definitions };
  }

  it.each([1, 2])('at write %d has changed nothing, because its list was not written', async (write) => {
    const { other, definitions } = await diedAt(write);
    expect(await pausedOf(other)).toEqual([]);
    await expect(definitions.undo(BULK)).rejects.toThrow(UnknownEntryError);
  });

  it.each([3, 4, 5, 6, 7])('at write %d is undone from another node', async (write) => {
    const { nodes, other, definitions } = await diedAt(write);
    const paused = await pausedOf(other);
    const { steps, missing } = await throughout(nodes, definitions.undo(BULK, { by: 'bob' }));
    const made = steps.filter(({ outcome }) => outcome === 'undone').map(({ name }) => name);
    expect({ made, missing }).toEqual({ made: paused, missing: 0 });
    expect(steps.map(({ name }) => name)).toEqual(NAMES);
    expect(await pausedOf(other)).toEqual([]);
  });

  it.each([1, 2, 3, 4, 5, 6, 7])('at write %d is completed by another node, as one change to undo', async (write) => {
    const { nodes, other, definitions } = await diedAt(write);
    await throughout(nodes, definitions.pauseAll({ bulk: BULK, by: 'ann' }));
    expect(await pausedOf(other)).toEqual(NAMES);
    expect(await throughout(nodes, definitions.undo(BULK))).toMatchObject({ remaining: 0, missing: 0 });
    expect(await pausedOf(other)).toEqual([]);
  });

  it.each(faultsOfWrites(7))('is undone and made again as a whole, when write %d of it %s', async (write, fault) => {
    const nodes = cluster();
    const [node, other] = await two(nodes);
    const { definitions } = node!.gatekeeper;
    const faulty = failWrite(node!, write, fault, /change-sets|semaphore/);
    const toDr = { to: { groupPattern: 'dr' } };
    await throughout(nodes, toldOutage(definitions.migrate(toDr, { bulk: BULK })));
    expect(faulty.hasFailed).toBe(true);
    faulty.mend();
    await throughout(nodes, definitions.migrate(toDr, { bulk: BULK }));
    const groups = async () =>
      (await other!.gatekeeper.state()).semaphores.map(({ definition }) => definition!.groupPattern);
    expect(await groups()).toEqual(NAMES.map(() => 'dr'));
    await throughout(nodes, other!.gatekeeper.definitions.undo(BULK));
    expect(await groups()).toEqual(NAMES.map(() => '.*'));
  });
});

describe('a change of many whose process stands still while it lists, until hundreds of others were listed', () => {
  const cluster = useCluster();

  it.each([
    ['before it looks into its slot', 'read', 'change-sets:page/0'],
    ['before it writes its page', 'compareAndSet', 'change-sets:page/0'],
    ['after it has written its page', 'compareAndSet', ROOT],
  ])('%s, changes nothing, and leaves the list that has its slot now', async (_, still, where) => {
    const nodes = cluster();
    const [node, other] = await two(nodes);
    const { definitions } = other!.gatekeeper;
    let late = '';
    let looks = where === ROOT ? 1 : 0;
    node!.store.script = async (call, go, key) => {
      if (late || call !== still || key !== where || looks-- > 0) return go();
      late = 'none';
      for (let count = 0; count < 400; count++)
        late = (await definitions[count % 2 ? 'resumeAll' : 'pauseAll']({ names: 'b-.*' })).bulk;
      return go();
    };
    const { definitions: own } = node!.gatekeeper;
    await expect(throughout(nodes, own.pauseAll({ names: 'a-.*' }))).rejects.toThrow('the change was not begun');
    node!.store.script = undefined;
    expect(await pausedOf(other!)).toEqual([]);
    const root = JSON.parse((await nodes.raw.records.read(ROOT))!) as { sets: SetHead[] };
    const slotted = root.sets.find(({ pages }) => pages.some(([slot]) => slot === 0))!;
    expect(slotted.id).toBe(late);
    expect(await throughout(nodes, definitions.undo(late))).toMatchObject({ missing: 0 });
    expect(await pausedOf(other!)).toEqual(['b-one', 'b-two']);
  });
});

describe('the list of a change of many', () => {
  const cluster = useCluster();

  it('is not continued by another person, who would be undone with it', async () => {
    const nodes = cluster();
    const [node, other] = await two(nodes);
    await node!.gatekeeper.definitions.pauseAll({ names: 'a-.*', bulk: BULK, by: 'ann' });
    const { definitions } = other!.gatekeeper;
    for (const call of ['pauseAll', 'migrate'] as const) {
      const options = { names: 'b-.*', bulk: BULK, by: 'bob' };
      const continued =
        call === 'migrate'
          ? definitions.migrate({ to: { groupPattern: 'dr' } }, { bulk: BULK })
          : definitions.pauseAll(options);
      await expect(continued).rejects.toThrow(`bulk: ${BULK} is the bulk of ann`);
    }
    expect(await pausedOf(other!)).toEqual(['a-one', 'a-two']);
  });

  it('that is lost after its changes had begun is told, also if the process that made them died', async () => {
    const nodes = cluster();
    const [node, other] = await two(nodes);
    dieAt(node!, 5);
    await node!.gatekeeper.definitions.pauseAll({ bulk: BULK }).catch(() => undefined);
    nodes.lose('change-sets:page/0');
    expect(await pausedOf(other!)).toEqual(['a-one']);
    await expect(other!.gatekeeper.definitions.undo(BULK)).rejects.toThrow('the store has lost what was before it');
  });

  it('stands in the store before the first definition changes', async () => {
    const nodes = cluster();
    const node = await nodes.node({ definitions: JOBS });
    const keys: string[] = [];
    node.store.script = (call, go, key = '') => {
      if (call === 'compareAndSet') keys.push(key.split(':')[0]!);
      return go();
    };
    await node.gatekeeper.definitions.pauseAll();
    expect(keys).toEqual(['change-sets', 'change-sets', 'change-sets', ...NAMES.map(() => 'semaphore')]);
  });

  it('is made anew for a definition that another operator edits meanwhile, so that no undo overwrites the edit', async () => {
    const nodes = cluster();
    const [node, other] = await two(nodes);
    const { definitions } = node!.gatekeeper;
    // 1 to 3: the list. 4: the first change.
    before(node!, 4, () => other!.gatekeeper.definitions.edit('a-one', { permits: 7 }, { by: 'cleo' }));
    const { done, bulk } = await definitions.pauseAll({ names: 'a-one' });
    expect(done).toEqual(['a-one']);
    node!.store.script = undefined;
    expect((await definitions.undo(bulk)).steps).toMatchObject([{ outcome: 'undone' }]);
    const state = await definitions.get('a-one');
    expect({ permits: state!.definition.permits, pause: state!.pause }).toEqual({ permits: 7, pause: undefined });
  });

  it('is in the slots of the try that was applied, when answers are lost and others list at the same time', async () => {
    const nodes = cluster();
    const [node, other] = await two(nodes);
    const others: string[] = [];
    let tries = 0;
    node!.store.script = async (call, go, key) => {
      if (call !== 'compareAndSet' || key !== ROOT || ++tries > 2) return go();
      // The first try is not applied, the second one is. Each time another change comes before this node's next look.
      const isFirst = tries === 1;
      if (!isFirst) await go();
      others.push((await other!.gatekeeper.definitions[isFirst ? 'pauseAll' : 'resumeAll']({ names: 'b-.*' })).bulk);
      throw new UnknownOutcomeError('no answer');
    };
    const { done, bulk } = await throughout(nodes, node!.gatekeeper.definitions.pauseAll({ names: 'a-.*' }));
    expect(done).toEqual(['a-one', 'a-two']);
    node!.store.script = undefined;
    await throughout(nodes, other!.gatekeeper.definitions.undo(bulk));
    expect(await pausedOf(other!)).toEqual([]);
    await throughout(nodes, other!.gatekeeper.definitions.undo(others[1]!));
    expect(await pausedOf(other!)).toEqual(['b-one', 'b-two']);
  });

  it('does not stop a pause of everything when its record can not be read', async () => {
    const nodes = cluster();
    const node = await nodes.node({ definitions: JOBS });
    await nodes.raw.records.compareAndSet(ROOT, undefined, 'garbage');
    const { done, bulk } = await node.gatekeeper.definitions.pauseAll();
    expect(done).toEqual(NAMES);
    expect(node.of('problem').map(({ action }) => action)).toEqual([expect.stringContaining('which was replaced')]);
    await node.gatekeeper.definitions.undo(bulk);
    expect(await pausedOf(node)).toEqual([]);
  });

  it('does not stop the undo of a single change when its record can not be read', async () => {
    const nodes = cluster();
    const node = await nodes.node({ definitions: [JOB] });
    const { definitions, audit } = node.gatekeeper;
    await definitions.edit('job', { permits: 5 });
    await nodes.time.advance(1000);
    await nodes.raw.records.compareAndSet(ROOT, undefined, 'garbage');
    const [{ id }] = (await audit.read(1)) as [AuditEntry];
    expect((await definitions.planUndo(id!)).steps).toMatchObject([{ outcome: 'planned' }]);
    expect((await definitions.undo(id!)).steps).toMatchObject([{ outcome: 'undone' }]);
    expect((await definitions.get('job'))!.definition.permits).toBe(1);
  });

  it('is restored by a node that knows it, if the store loses its record', async () => {
    const nodes = cluster();
    const node = await nodes.node({ definitions: JOBS });
    const { bulk } = await node.gatekeeper.definitions.pauseAll();
    nodes.lose(ROOT);
    await node.gatekeeper.definitions.undo(bulk);
    expect(await pausedOf(node)).toEqual([]);
  });

  it('goes on with its changes one by one when it is no longer kept', async () => {
    const nodes = cluster();
    const node = await nodes.node({ definitions: [JOB] });
    const { definitions, audit } = node.gatekeeper;
    const { bulk } = await definitions.pauseAll({ by: 'ann' });
    const text = (await nodes.raw.records.read(ROOT))!;
    const root = JSON.parse(text) as { seq: number; sets: unknown[] };
    const dropped = { ...root, seq: root.seq + 1, nonce: 'other', sets: [] };
    await nodes.raw.records.compareAndSet(ROOT, text, JSON.stringify(dropped));
    await nodes.time.advance(1000);
    await expect(definitions.undo(bulk)).rejects.toThrow(UndoRefusedError);
    await expect(definitions.undo(bulk)).rejects.toThrow('undo its entries one by one');
    const [{ id }] = (await audit.read(1)) as [AuditEntry];
    expect((await definitions.undo(id!)).steps).toMatchObject([{ outcome: 'undone' }]);
    expect((await definitions.get('job'))!.pause).toBeUndefined();
  });
});

describe('the sets that are kept', () => {
  const head = (id: string): NewSet => ({ id, kind: 'bulk', by: 'ann', reason: 'the database moves' });
  const slotsOf = (sets: readonly SetHead[]) => sets.flatMap(({ pages }) => pages.map(([slot]) => slot));

  /** Lists one change after the other. @param pages number of pages of each */
  function listed(count: number, pages: number, start: readonly SetHead[] = []): readonly SetHead[] {
    let sets = start;
    for (let index = 0; index < count; index++) {
      const counts = Array.from({ length: pages }, () => 300);
      ({ sets } = withPages(sets, head(`set.${index}`), counts, { listing: `listing.${index}`, now: index }));
    }
    return sets;
  }

  it.each([
    ['small ones', 600, 1],
    ['large ones', 100, 35],
  ])('are the latest, in a bounded number of slots, of which none has two pages: %s', (_, count, pages) => {
    const sets = listed(count, pages);
    expect(sets.at(-1)!.id).toBe(`set.${count - 1}`);
    expect(sets.map(({ at }) => at)).toEqual(sets.map((__, index) => count - sets.length + index));
    const slots = slotsOf(sets);
    expect(new Set(slots).size).toBe(slots.length);
    expect(Math.max(...slots)).toBeLessThan(400);
    expect(sets.length).toBeGreaterThanOrEqual(Math.floor(350 / pages));
    expect(Buffer.byteLength(JSON.stringify(sets))).toBeLessThan(85_000);
  });

  it('are those of all open windows, however old', () => {
    const window = { name: 'db', patterns: ['.*'], phase: 'on' as const, entries: [] };
    const [first] = listed(1, 1);
    const sets = listed(600, 1, [{ ...first!, id: 'window.1', window }]);
    expect(sets[0]).toMatchObject({ id: 'window.1', window });
    expect(new Set(slotsOf(sets)).size).toBe(slotsOf(sets).length);
  });

  it('lose their own oldest pages when one alone is too large, and say how many changes', () => {
    let sets: readonly SetHead[] = listed(1, 1);
    for (let call = 0; call < 20; call++) {
      const counts = Array.from({ length: 30 }, () => 300);
      ({ sets } = withPages(sets, head('large'), counts, { listing: `call.${call}`, now: call }));
    }
    expect(sets.map(({ id, pages }) => [id, pages.length])).toEqual([['large', 400]]);
    expect(droppedFrom(sets[0]!)).toBe(200 * 300);
  });
});
