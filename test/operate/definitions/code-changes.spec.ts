import { DefinedInCodeError, StoreUnavailableError } from 'nestjs-gatekeeper';
import { JOB, type TestCluster, type TestNode, keyOf, useCluster } from '../../support/nodes.js';
import { ScriptedArchive } from '../../support/scripted-archive.js';

const V1 = { definitions: [JOB], heartbeat: 1000, sweepInterval: 1000, version: '1.0.0' };
const V2 = { ...V1, definitions: [{ ...JOB, duration: '20s', permits: 2 }], version: '2.0.0' };

/** Time in which a node looks at the registry and at its definitions. */
const LOOK = 3000;
/** Time after which a node that crashed counts as dead. */
const SILENCE = 5000;

const durationIn = async ({ gatekeeper }: TestNode, name = 'job') =>
  (await gatekeeper.definitions.get(name))?.definition.duration;

async function deployed(nodes: TestCluster, options: object): Promise<TestNode> {
  const node = await nodes.node(options);
  await nodes.time.advance(LOOK);
  return node;
}

describe('a definition that was changed in code', () => {
  const cluster = useCluster();

  it('counts after a deploy: once, with the version of the application in the audit log', async () => {
    const nodes = cluster();
    const old = await deployed(nodes, V1);
    await nodes.closeOne(old);
    const [one, two] = [await deployed(nodes, V2), await deployed(nodes, V2)];
    await nodes.time.advance(30_000);
    expect(await one.gatekeeper.definitions.get('job')).toMatchObject({
      definition: { duration: 20_000, permits: 2 },
      revision: 2,
      source: 'code',
      isOverridden: false,
      change: { kind: 'follow', by: 'app2' },
    });
    const log = await two.gatekeeper.audit.read(100);
    expect(log).toMatchObject([{ action: 'follow', semaphore: 'job', from: { duration: 10_000 }, to: { permits: 2 } }]);
    expect(log[0]!.reason).toMatch(/2\.0\.0/);
    expect(one.of('definitions-differ')).toEqual([]);
  });

  it('stays as it was while a node of the former version lives, and follows when the last one has ended', async () => {
    const nodes = cluster();
    const [a, b] = [await deployed(nodes, V1), await deployed(nodes, V1)];
    const canary = await deployed(nodes, V2);
    await nodes.closeOne(a);
    await nodes.time.advance(60_000);
    expect(await durationIn(canary)).toBe(10_000);
    expect(canary.of('definitions-differ')).toHaveLength(1);
    expect(canary.log.join('\n')).toMatch(
      /warn .*"job" has permits 1 \(in the code 2\), .*: the code of app1, app2 \(version 1.0.0\) still has it/,
    );
    await nodes.closeOne(b);
    await nodes.time.advance(LOOK);
    expect(await durationIn(canary)).toBe(20_000);
  });

  it('does not go back when an old node restarts after the deploy, and goes back with a rollback', async () => {
    const nodes = cluster();
    await nodes.closeOne(await deployed(nodes, V1));
    const current = await deployed(nodes, V2);
    const late = await deployed(nodes, V1);
    await nodes.time.advance(60_000);
    expect(await late.gatekeeper.definitions.get('job')).toMatchObject({ revision: 2, definition: { permits: 2 } });
    await nodes.closeOne(current);
    await nodes.time.advance(LOOK);
    expect(await late.gatekeeper.definitions.get('job')).toMatchObject({ revision: 3, definition: { permits: 1 } });
  });

  it('follows a node that crashed only when it counts as dead', async () => {
    const nodes = cluster();
    const old = await deployed(nodes, V1);
    old.store.script = () => Promise.reject(new StoreUnavailableError('cut off'));
    const current = await nodes.node(V2);
    await nodes.time.advance(1000);
    expect(await durationIn(current)).toBe(10_000);
    await nodes.time.advance(SILENCE);
    expect(await durationIn(current)).toBe(20_000);
    old.store.script = undefined;
  });

  it('does not go back and forth between two environments that differ for ever', async () => {
    const nodes = cluster();
    const all = [await deployed(nodes, V1), await deployed(nodes, V2), await deployed(nodes, V1)];
    await nodes.time.advance(10 * 60_000);
    expect(await all[0]!.gatekeeper.definitions.get('job')).toMatchObject({ revision: 1 });
    expect(all.map((node) => node.of('changed').length)).toEqual([0, 0, 0]);
  });

  it('takes that of the node that started last, when a third version comes before the second was taken', async () => {
    const nodes = cluster();
    const old = await deployed(nodes, V1);
    const [second, third] = [
      await deployed(nodes, V2),
      await deployed(nodes, { ...V2, definitions: [{ ...JOB, duration: '30s' }] }),
    ];
    await nodes.closeOne(old);
    await nodes.time.advance(60_000);
    expect(await durationIn(second)).toBe(30_000);
    expect(third.of('changed')).toHaveLength(1);
  });

  it('keeps what is held, and a surplus ends by itself, from 1 to 2 permits and back', async () => {
    const nodes = cluster();
    await nodes.closeOne(await deployed(nodes, V1));
    const two = await deployed(nodes, V2);
    const held = [await two.gatekeeper.tryAcquire('job'), await two.gatekeeper.tryAcquire('job', { holder: 'other' })];
    expect(held.map((permit) => permit?.slot)).toEqual([0, 1]);
    const back = await deployed(nodes, V1);
    await nodes.closeOne(two);
    await nodes.time.advance(LOOK);
    expect(await durationIn(back)).toBe(10_000);
    await nodes.time.advance(30_000);
    expect(await back.gatekeeper.tryAcquire('job')).toBeDefined();
    expect(await back.gatekeeper.tryAcquire('job', { holder: 'other' })).toBeUndefined();
  });

  it("does not replace an operator's edit, also one that only repeats the code, until a reset", async () => {
    const nodes = cluster();
    const old = await deployed(nodes, V1);
    await old.gatekeeper.definitions.edit('job', { duration: '10s' }, { by: 'ann' });
    await nodes.closeOne(old);
    const current = await deployed(nodes, V2);
    await nodes.time.advance(60_000);
    expect(await current.gatekeeper.definitions.get('job')).toMatchObject({ source: 'operator', revision: 2 });
    await current.gatekeeper.definitions.reset('job', { by: 'ann' });
    expect(await current.gatekeeper.definitions.get('job')).toMatchObject({
      source: 'code',
      definition: { permits: 2 },
    });
    await nodes.closeOne(current);
    const next = await deployed(nodes, V1);
    expect(await next.gatekeeper.definitions.get('job')).toMatchObject({ source: 'code', definition: { permits: 1 } });
  });

  it('comes from an operator after an undo of an edit: only a reset follows the code again', async () => {
    const nodes = cluster();
    const node = await deployed(nodes, V1);
    const { definitions } = node.gatekeeper;
    const { change } = await definitions.edit('job', { duration: '30s' });
    await nodes.time.advance(1000);
    await definitions.undo(change!.id);
    expect(await definitions.get('job')).toMatchObject({ source: 'operator', definition: { duration: 10_000 } });
  });

  it('goes back by an undo, and then is an operator’s until a reset', async () => {
    const nodes = cluster();
    await nodes.closeOne(await deployed(nodes, V1));
    const { gatekeeper } = await deployed(nodes, V2);
    const [entry] = await gatekeeper.audit.read(100);
    expect((await gatekeeper.definitions.undo(entry!.id!, { by: 'ann' })).steps).toMatchObject([{ outcome: 'undone' }]);
    await nodes.time.advance(60_000);
    expect(await gatekeeper.definitions.get('job')).toMatchObject({ source: 'operator', definition: { permits: 1 } });
    await gatekeeper.definitions.reset('job', { by: 'ann' });
    expect(await gatekeeper.definitions.get('job')).toMatchObject({ source: 'code', definition: { permits: 2 } });
  });

  it('follows while it is paused, and the pause stays', async () => {
    const nodes = cluster();
    const old = await deployed(nodes, V1);
    await old.gatekeeper.definitions.pause('job', { by: 'ann' });
    await nodes.closeOne(old);
    const current = await deployed(nodes, V2);
    expect(await current.gatekeeper.definitions.get('job')).toMatchObject({
      definition: { duration: 20_000 },
      pause: { by: 'ann', groupPattern: '.*' },
      source: 'code',
    });
    expect(await current.gatekeeper.tryAcquire('job')).toBeUndefined();
  });

  it("stays with codeChanges: 'keep', and is reported", async () => {
    const nodes = cluster();
    await nodes.closeOne(await deployed(nodes, V1));
    const kept = await deployed(nodes, { ...V2, codeChanges: 'keep' });
    await nodes.time.advance(60_000);
    expect(await durationIn(kept)).toBe(10_000);
    expect(kept.log.join('\n')).toMatch(/warn .*codeChanges is 'keep'/);
  });

  it('stays while the registry can not be read, or has an entry that can not be', async () => {
    const nodes = cluster();
    await nodes.closeOne(await deployed(nodes, V1));
    // A node drops such entries from the text that has its own entry: so there are two.
    const keys = ['nodes:3', 'nodes:4'];
    const foreign = JSON.stringify({ v: 1, nodes: [{ acquirer: 7 }] });
    for (const key of keys) await nodes.raw.records.compareAndSet(key, undefined, foreign, { notify: 'none' });
    const current = await deployed(nodes, { ...V2, heartbeat: 60_000 });
    await nodes.time.advance(30_000);
    expect(await durationIn(current)).toBe(10_000);
    for (const key of keys) nodes.lose(key);
    // With one of them the node may have lost its own entry, which its next heartbeat writes again.
    await nodes.time.advance(60_000 + LOOK);
    expect(await durationIn(current)).toBe(20_000);
  });

  it('stays while the archive can not be read, so that an edit that only the archive has comes back first', async () => {
    const nodes = cluster();
    await nodes.closeOne(await deployed(nodes, V1));
    const archive = new ScriptedArchive();
    archive.script = () => Promise.reject(new Error('no disk'));
    const current = await deployed(nodes, { ...V2, persistence: archive.persistence });
    await nodes.time.advance(30_000);
    expect(await durationIn(current)).toBe(10_000);
    archive.script = undefined;
    await nodes.time.advance(30_000);
    expect(await durationIn(current)).toBe(20_000);
  });

  it('comes back from the archive to a cluster that lost everything, and then follows the code of that time', async () => {
    const [archive, later] = [new ScriptedArchive(), new ScriptedArchive()];
    const nodes = cluster();
    await nodes.closeOne(await deployed(nodes, V1));
    const second = await deployed(nodes, { ...V2, persistence: archive.persistence });
    await nodes.time.advance(LOOK);
    await nodes.closeOne(second);
    expect(archive.content.get('job')).toMatchObject({ source: 'code', revision: 2, change: { kind: 'follow' } });
    const empty = cluster();
    later.content = archive.content;
    const third = await deployed(empty, {
      ...V2,
      definitions: [{ ...JOB, duration: '30s' }],
      persistence: later.persistence,
    });
    await empty.time.advance(LOOK);
    expect(await third.gatekeeper.definitions.get('job')).toMatchObject({
      source: 'code',
      definition: { duration: 30_000, permits: 1 },
    });
  });

  it('stays when no code has it any more, and follows the code that has it again', async () => {
    const nodes = cluster();
    await nodes.closeOne(await deployed(nodes, V1));
    const without = await deployed(nodes, { ...V1, definitions: [] });
    await nodes.time.advance(60_000);
    expect(await without.gatekeeper.definitions.get('job')).toMatchObject({ revision: 1, source: 'code' });
    const again = await deployed(nodes, V2);
    await nodes.time.advance(LOOK);
    expect(await again.gatekeeper.definitions.get('job')).toMatchObject({ revision: 2, definition: { permits: 2 } });
  });

  it('may be renamed: the old name stays, and can be removed when the last old node has ended', async () => {
    const nodes = cluster();
    const old = await deployed(nodes, V1);
    const renamed = await deployed(nodes, { ...V2, definitions: [{ ...JOB, name: 'renamed' }] });
    const { definitions } = renamed.gatekeeper;
    await expect(definitions.remove('job')).rejects.toThrow(DefinedInCodeError);
    await nodes.closeOne(old);
    await nodes.time.advance(LOOK);
    const { semaphores } = await renamed.gatekeeper.overview();
    expect(semaphores).toMatchObject([
      { name: 'job', source: 'code', warnings: [] },
      { name: 'renamed', source: 'code', code: {}, warnings: [] },
    ]);
    expect(await definitions.remove('job')).toBe(true);
    expect((await renamed.gatekeeper.overview('job')).semaphores).toMatchObject([{ free: 0, warnings: [] }]);
    expect(renamed.gatekeeper.health().faults).toEqual([]);
  });

  it('is named in one warning with all others, however many an operator has changed', async () => {
    const nodes = cluster();
    const definitions = Array.from({ length: 30 }, (_, index) => ({ name: `job-${index}`, duration: '10s' }));
    const node = await nodes.node({ ...V1, definitions });
    await node.gatekeeper.definitions.migrate({ to: { groupPattern: 'eu' } });
    const later = await deployed(nodes, { ...V1, definitions });
    const warned = later.log.filter((line) => line.startsWith('warn') && line.includes('stored definition'));
    expect(warned).toHaveLength(1);
    for (const { name } of definitions) expect(warned[0]).toContain(`"${name}"`);
  });

  it('is not taken from a record whose origin is damaged: it grants nothing until it is reset', async () => {
    const nodes = cluster();
    const node = await deployed(nodes, V1);
    const { fingerprint: _, ...record } = JSON.parse((await nodes.raw.records.read(keyOf('job')))!);
    await nodes.closeOne(node);
    await nodes.overwrite(JSON.stringify(record));
    const later = await deployed(nodes, V2);
    expect(later.of('record-unreadable')).not.toEqual([]);
    await expect(later.gatekeeper.tryAcquire('job')).rejects.toThrow(/has no fingerprint/);
  });
});

describe('the removal of a definition', () => {
  const cluster = useCluster();

  it('that the code of a living node has is refused on every node, with what to do', async () => {
    const nodes = cluster();
    const node = await deployed(nodes, V1);
    const other = await deployed(nodes, { ...V1, definitions: [] });
    for (const { gatekeeper } of [node, other]) {
      const refused = await gatekeeper.definitions.remove('job').catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(DefinedInCodeError);
      expect(refused).toMatchObject({ code: 'defined-in-code', semaphore: 'job', nodes: ['app1'] });
      expect((refused as Error).message).toMatch(/pause it, or remove it from the code/);
    }
    expect(await node.gatekeeper.tryAcquire('job')).toBeDefined();
    await nodes.closeOne(node);
    expect(await other.gatekeeper.definitions.remove('job')).toBe(true);
  });

  it('is refused too as the undo of its definition', async () => {
    const nodes = cluster();
    const former = await deployed(nodes, { ...V1, definitions: [] });
    await nodes.closeOne(await deployed(nodes, V1));
    await former.gatekeeper.definitions.remove('job');
    const { change } = await former.gatekeeper.definitions.define(JOB);
    const node = await deployed(nodes, V1);
    await expect(node.gatekeeper.definitions.undo(change!.id)).rejects.toThrow(DefinedInCodeError);
  });
});
