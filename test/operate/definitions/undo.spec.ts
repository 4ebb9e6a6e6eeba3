import {
  type AuditEntry,
  EditConflictError,
  StoreUnavailableError,
  UndoRefusedError,
  UnknownEntryError,
} from 'nestjs-gatekeeper';
import { JOB, type TestCluster, type TestNode, useCluster } from '../../support/nodes.js';
import { removed } from '../../support/removed.js';
import { allTexts } from '../../../lib/core/store/paging.js';

const named = (name: string, groupPattern = 'production') => ({ ...JOB, name, groupPattern });

/** The entries of the audit log, newest first, once all are written. */
async function log(cluster: TestCluster, { gatekeeper }: TestNode): Promise<AuditEntry[]> {
  await cluster.time.advance(200);
  return (await gatekeeper.audit.read(100)).toReversed();
}

async function lastId(cluster: TestCluster, node: TestNode): Promise<string> {
  return (await log(cluster, node))[0]!.id!;
}

describe('the undo of one change', () => {
  const cluster = useCluster();

  /** A node whose code has `job`, and not `by-hand`. */
  async function removedWhilePaused(name: string) {
    const nodes = cluster();
    const node = await nodes.node();
    const { definitions } = node.gatekeeper;
    await definitions.define(named('by-hand'));
    await definitions.pause(name, { by: 'ann', reason: 'broken' });
    const before = (await definitions.get(name))!;
    await removed(node.gatekeeper, name);
    return { nodes, node, before };
  }

  it('puts back what an edit changed, with author and reason, and says what it undid', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const { definitions } = node.gatekeeper;
    await definitions.edit('job', { permits: 5, acquirerPattern: 'x' }, { by: 'ann', reason: 'more load' });
    const entry = await lastId(nodes, node);
    const { steps } = await definitions.undo(entry, { by: 'bob' });
    expect(steps).toMatchObject([{ name: 'job', kind: 'edit', outcome: 'undone' }]);
    expect(await definitions.get('job')).toMatchObject({
      definition: { permits: 1, acquirerPattern: '.*' },
      revision: 3,
      change: { kind: 'edit', by: 'bob', reason: 'undo of edit by ann: more load' },
    });
    expect((await log(nodes, node))[0]).toMatchObject({ action: 'edit', by: 'bob', undoes: entry });
  });

  it('can itself be undone', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const { definitions } = node.gatekeeper;
    await definitions.edit('job', { permits: 5 });
    await definitions.undo(await lastId(nodes, node));
    await definitions.undo(await lastId(nodes, node));
    expect((await definitions.get('job'))?.definition.permits).toBe(5);
  });

  it('ends a pause, and puts an ended pause back as it was', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const { definitions } = node.gatekeeper;
    await definitions.pause('job', { by: 'ann', reason: 'broken' });
    const paused = await definitions.get('job');
    await definitions.undo(await lastId(nodes, node));
    expect((await definitions.get('job'))?.pause).toBeUndefined();
    await definitions.undo(await lastId(nodes, node));
    expect(await definitions.get('job')).toMatchObject({
      pause: paused!.pause,
      definition: paused!.definition,
      change: { kind: 'pause' },
    });
    expect((await node.gatekeeper.explain('job')).reason).toBe('paused');
  });

  it.each(['job', 'by-hand'])('defines again what was removed, paused as it was: %s', async (name) => {
    const { nodes, node, before } = await removedWhilePaused(name);
    const { definitions } = node.gatekeeper;
    await definitions.undo(await lastId(nodes, node));
    expect(await definitions.get(name)).toMatchObject({ definition: before.definition, pause: before.pause });
  });

  it('removes again what it defined, if no code of a living node has it', async () => {
    const { nodes, node } = await removedWhilePaused('by-hand');
    const { definitions } = node.gatekeeper;
    await definitions.undo(await lastId(nodes, node));
    await definitions.undo(await lastId(nodes, node));
    expect(await definitions.get('by-hand')).toBeUndefined();
  });

  it('is refused if it would remove what the code of a living node has', async () => {
    const { nodes, node } = await removedWhilePaused('job');
    const { definitions } = node.gatekeeper;
    await definitions.undo(await lastId(nodes, node));
    await expect(definitions.undo(await lastId(nodes, node))).rejects.toMatchObject({ code: 'defined-in-code' });
    expect((await definitions.get('job'))?.definition.name).toBe('job');
  });

  it('takes a reset back', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const { definitions } = node.gatekeeper;
    await definitions.edit('job', { permits: 5 });
    await definitions.reset('job');
    await definitions.undo(await lastId(nodes, node));
    expect((await definitions.get('job'))?.definition.permits).toBe(5);
  });

  it('shows its plan, and what a removal would take away, without a write', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const { definitions } = node.gatekeeper;
    await definitions.define(named('new', '.*'));
    await node.gatekeeper.tryAcquire('new');
    const entry = await lastId(nodes, node);
    const before = await allTexts(nodes.raw.records, '');
    const plan = await definitions.planUndo(entry);
    expect(plan.steps).toMatchObject([{ name: 'new', kind: 'remove', revokes: 1, outcome: 'planned' }]);
    expect(plan.steps[0]).not.toHaveProperty('to');
    expect(await allTexts(nodes.raw.records, '')).toEqual(before);
  });

  it('is refused after a later change, with its author and time', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const { definitions } = node.gatekeeper;
    await definitions.edit('job', { permits: 5 }, { by: 'ann' });
    const entry = await lastId(nodes, node);
    await definitions.edit('job', { permits: 6 }, { by: 'cleo' });
    const refused = definitions.undo(entry);
    await expect(refused).rejects.toThrow(EditConflictError);
    await expect(refused).rejects.toThrow(/edit by "cleo" at .*undo that change first/);
    const { steps } = await definitions.planUndo(entry);
    expect(steps).toMatchObject([
      { outcome: 'left', why: expect.stringMatching(/^changed since \(edit by "cleo" at/) },
    ]);
    expect((await definitions.get('job'))?.definition.permits).toBe(6);
  });

  it('loses against an edit that comes between its look and its write', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const other = await nodes.node();
    await node.gatekeeper.definitions.edit('job', { permits: 5 }, { by: 'ann' });
    const entry = await lastId(nodes, node);
    let isFirst = true;
    node.store.script = async (call, go) => {
      if (call === 'compareAndSet' && isFirst) {
        isFirst = false;
        await other.gatekeeper.definitions.edit('job', { permits: 6 }, { by: 'cleo' });
      }
      return go();
    };
    await expect(node.gatekeeper.definitions.undo(entry)).rejects.toThrow(EditConflictError);
    expect(isFirst).toBe(false);
    expect((await other.gatekeeper.definitions.get('job'))?.definition.permits).toBe(6);
  });

  it('changes nothing a second time, also for two operators at once', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const other = await nodes.node();
    await node.gatekeeper.definitions.edit('job', { permits: 5 });
    const entry = await lastId(nodes, node);
    const both = await Promise.all([node, other].map(({ gatekeeper }) => gatekeeper.definitions.undo(entry)));
    expect(both.flatMap(({ steps }) => steps.map(({ outcome }) => outcome)).toSorted()).toEqual([
      'unchanged',
      'undone',
    ]);
    expect((await node.gatekeeper.definitions.get('job'))?.revision).toBe(3);
  });

  it('refuses kinds that can not be undone, ids that the log does not have, and entries of former versions', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const { definitions } = node.gatekeeper;
    const permit = (await node.gatekeeper.tryAcquire('job'))!;
    await definitions.revoke('job', permit.id);
    await expect(definitions.undo(await lastId(nodes, node))).rejects.toThrow(UndoRefusedError);
    await expect(definitions.planUndo(await lastId(nodes, node))).rejects.toThrow(
      'a revoked permit does not come back',
    );
    await expect(definitions.undo('none.1')).rejects.toThrow(UnknownEntryError);
    await expect(definitions.undo(await lastId(nodes, node), { only: () => false })).rejects.toThrow(UnknownEntryError);

    await definitions.edit('job', { permits: 5 });
    const { id, ...former } = (await log(nodes, node))[0]!;
    await nodes.raw.journal('audit').append([JSON.stringify({ ...former, bulk: 'old.1' })]);
    await expect(definitions.undo('old.1')).rejects.toThrow('a former version wrote it');
    expect(id).toBeDefined();
  });
});

describe('the undo of a change of many', () => {
  const cluster = useCluster();
  const FOUR = [named('a.one', '.*'), named('a.two'), named('b.one'), named('b.two', 'test|production')];

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

  it('brings back exactly the patterns that were there, whatever they were', async () => {
    const { node, before, patterns, bulk } = await migrated();
    const { steps, remaining } = await node.gatekeeper.definitions.undo(bulk, { by: 'bob' });
    expect(steps.map(({ outcome, kind }) => [outcome, kind])).toEqual(FOUR.map(() => ['undone', 'migrate']));
    expect(remaining).toBe(0);
    expect(await patterns()).toEqual(before);
  });

  it('leaves alone what has changed since, and names it with the author of that change', async () => {
    const { node, before, patterns, bulk } = await migrated();
    await node.gatekeeper.definitions.edit('a.two', { groupPattern: 'lab' }, { by: 'cleo' });
    await removed(node.gatekeeper, 'b.one', { by: 'cleo' });
    const { steps } = await node.gatekeeper.definitions.undo(bulk);
    expect(steps.map(({ name, outcome }) => [name, outcome])).toEqual([
      ['a.one', 'undone'],
      ['a.two', 'left'],
      ['b.one', 'left'],
      ['b.two', 'undone'],
    ]);
    expect(steps[1]!.why).toMatch(/edit by "cleo"/);
    expect(await patterns()).toMatchObject({ 'a.one': before['a.one'], 'a.two': { groupPattern: 'lab' } });
  });

  it('names a part that another operator changes meanwhile', async () => {
    const { nodes, node, bulk } = await migrated();
    const other = await nodes.node({ definitions: FOUR });
    let edit: Promise<unknown> | undefined;
    node.store.script = async (call, go) => {
      if (call !== 'compareAndSet') return go();
      edit ??= other.gatekeeper.definitions.edit('a.two', { groupPattern: 'lab' }, { by: 'cleo' });
      return edit.then(go);
    };
    const { steps } = await node.gatekeeper.definitions.undo(bulk);
    expect(steps.map(({ outcome }) => outcome)).toEqual(['undone', 'left', 'undone', 'undone']);
    expect(steps[1]!.why).toContain('cleo');
  });

  it('goes on where it stopped, and shares one id, so that it can be undone as a whole', async () => {
    const { nodes, node, before, patterns, bulk } = await migrated();
    const { definitions } = node.gatekeeper;
    const moved = await patterns();
    const first = await definitions.undo(bulk, { limit: 3 });
    expect([first.steps.length, first.remaining]).toEqual([3, 1]);
    const second = await definitions.undo(bulk, { limit: 3, bulk: first.bulk! });
    expect(second.steps.filter(({ outcome }) => outcome === 'undone').map(({ name }) => name)).toEqual(['b.two']);
    expect(await patterns()).toEqual(before);
    await nodes.time.advance(200);
    await definitions.undo(first.bulk!);
    expect(await patterns()).toEqual(moved);
  });

  it('resumes only what a pause of many paused', async () => {
    const nodes = cluster();
    const node = await nodes.node({ definitions: FOUR });
    const { definitions } = node.gatekeeper;
    await definitions.pause('b.one', { by: 'ann', reason: 'broken for weeks' });
    const { done, bulk } = await definitions.pauseAll({ by: 'bob' });
    expect(done).toEqual(['a.one', 'a.two', 'b.two']);
    await nodes.time.advance(200);
    await definitions.undo(bulk);
    const paused = (await node.gatekeeper.state()).semaphores.filter(({ pause }) => pause).map(({ name }) => name);
    expect(paused).toEqual(['b.one']);
  });

  it('says that nothing was done while the store can not be asked', async () => {
    const { node, before, patterns, bulk } = await migrated();
    node.store.script = (call, go) =>
      call === 'compareAndSet' ? Promise.reject(new StoreUnavailableError('away')) : go();
    await expect(node.gatekeeper.definitions.undo(bulk)).rejects.toThrow(StoreUnavailableError);
    node.store.script = undefined;
    await node.gatekeeper.definitions.undo(bulk);
    expect(await patterns()).toEqual(before);
  });
});
