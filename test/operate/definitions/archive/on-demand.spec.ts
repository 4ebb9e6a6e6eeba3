import { shardOf } from '../../../../lib/core/decision/index.js';
import { FEW_SHARDS, namesIn } from '../../../support/born.js';
import { shardKeyOf, useCluster } from '../../../support/nodes.js';
import { ScriptedArchive } from '../../../support/scripted-archive.js';
import { shardIn, takeOutside } from '../../../support/shards.js';

const SHORT = { duration: '10s' };
const byAnn = { by: 'ann' };
const SWEEP = 12_500;

describe('the archive', () => {
  const cluster = useCluster();

  it('brings back each definition of a shard that was lost with all nodes', async () => {
    const nodes = cluster();
    const archive = new ScriptedArchive();
    const { persistence } = archive;
    const names = namesIn('0', 3);
    const former = await nodes.node({ persistence });
    for (const name of names) await former.gatekeeper.definitions.define({ name, ...SHORT }, byAnn);
    for (const name of names) await former.gatekeeper.definitions.pause(name, byAnn);
    await nodes.time.advance(500);
    expect([...archive.content.keys()].toSorted()).toEqual(names.toSorted());
    await former.gatekeeper.close();
    archive.calls.close = 0;
    nodes.loseAll();
    const fresh = nodes.unstarted({ persistence, definitions: [], definitionsDelay: 0 });
    await fresh.gatekeeper.start();
    await nodes.time.advance(2 * SWEEP);
    expect([...(await shardIn(nodes, '0')).names.keys()].toSorted()).toEqual(names.toSorted());
  });

  it('brings them back also in the other order', async () => {
    const nodes = cluster();
    const archive = new ScriptedArchive();
    const { persistence } = archive;
    const [one, two] = namesIn('0', 2) as [string, string];
    const definition = { groupPattern: '.*', acquirerPattern: '.*', permits: 1, duration: 10_000 };
    const change = { id: 'c', kind: 'pause' as const, by: 'ann', at: 1 };
    archive.content = new Map([
      [two, { name: two, revision: 5, definition: { name: two, ...definition }, change }],
      [one, { name: one, revision: 3, definition: { name: one, ...definition }, change }],
    ]);
    await nodes.node({ persistence });
    await nodes.time.advance(2 * SWEEP);
    expect([...(await shardIn(nodes, '0')).names.keys()].toSorted()).toEqual([one, two].toSorted());
  });

  it('brings a definition back with a grace as long as its permits', async () => {
    const nodes = cluster();
    const archive = new ScriptedArchive();
    const { persistence } = archive;
    const former = await nodes.node({ persistence });
    await former.gatekeeper.definitions.define({ name: 'x', duration: '1h' }, byAnn);
    const first = await takeOutside(former, 'x');
    await nodes.time.advance(500);
    await former.gatekeeper.close();
    archive.calls.close = 0;
    nodes.lose(shardKeyOf('x'));
    const fresh = await nodes.node({ persistence });
    await nodes.time.advance(20 * 60_000);
    expect((await nodes.raw.records.read(shardKeyOf('x')))!).toContain('"name":"x"');
    const second = await takeOutside(fresh, 'x', undefined, 'http:bob');
    expect([first.outcome, second.outcome]).toEqual(['granted', 'denied']);
  });
});

describe('an archived definition of a name on demand', () => {
  const cluster = useCluster();
  const definition = { groupPattern: '.*', acquirerPattern: '.*', permits: 1, duration: 10_000 };
  const change = { id: 'c', kind: 'define' as const, by: 'ann', at: 1 };

  it('comes back although another name of its shard was used before', async () => {
    const nodes = cluster();
    const archive = new ScriptedArchive();
    const [one, two] = namesIn('0', 2) as [string, string];
    archive.content = new Map([[one, { name: one, revision: 1, definition: { name: one, ...definition }, change }]]);
    const other = await nodes.node();
    await (await other.gatekeeper.tryAcquire(two, SHORT))!.release();
    await nodes.node({ persistence: archive.persistence });
    await nodes.time.advance(2 * SWEEP);
    expect([...(await shardIn(nodes, '0')).names.keys()]).toEqual([one]);
  });

  it('comes back beside another of the same revision', async () => {
    const nodes = cluster();
    const archive = new ScriptedArchive();
    const names = namesIn('0', 2);
    archive.content = new Map(
      names.map((name) => [name, { name, revision: 2, definition: { name, ...definition }, change }]),
    );
    await nodes.node({ persistence: archive.persistence });
    await nodes.time.advance(2 * SWEEP);
    expect([...(await shardIn(nodes, '0')).names.keys()].toSorted()).toEqual(names.toSorted());
  });

  it('stays removed', async () => {
    const nodes = cluster();
    const archive = new ScriptedArchive();
    const former = await nodes.node({ persistence: archive.persistence });
    await former.gatekeeper.definitions.define({ name: 'x', duration: '10s' });
    await nodes.time.advance(500);
    await former.gatekeeper.definitions.remove('x');
    await nodes.node({ persistence: archive.persistence });
    await nodes.time.advance(3 * SWEEP);
    expect((await shardIn(nodes, shardOf('x', FEW_SHARDS))).names.has('x')).toBe(false);
  });
});

describe('a definition of a name on demand', () => {
  const cluster = useCluster();
  const two = async () => {
    const nodes = cluster();
    const archive = new ScriptedArchive();
    const archiving = await nodes.node({ persistence: archive.persistence });
    return { nodes, archive, archiving, other: await nodes.node() };
  };

  it('is archived a moment after it was made, through whatever node', async () => {
    const { nodes, archive, archiving, other } = await two();
    await other.gatekeeper.definitions.define({ name: 'x', duration: '10s' }, { by: 'ann' });
    await nodes.time.advance(500);
    expect([...archive.content.keys()]).toEqual(['x']);
    const change = { semaphore: 'x', change: { kind: 'define', by: 'ann' } };
    expect([archiving.of('changed'), other.of('changed')]).toMatchObject([[change], [change]]);
  });

  it('that an operator removed stays removed after all data were lost', async () => {
    const { nodes, archive, archiving, other } = await two();
    await other.gatekeeper.definitions.define({ name: 'x', duration: '10s' }, { by: 'ann' });
    await nodes.time.advance(500);
    await other.gatekeeper.definitions.remove('x', { by: 'ann' });
    await nodes.time.advance(500);
    expect(archive.content.get('x')?.definition).toBeUndefined();
    await archiving.gatekeeper.close();
    await other.gatekeeper.close();
    archive.calls.close = 0;
    nodes.loseAll();
    const { persistence } = archive;
    const fresh = nodes.unstarted({ persistence, definitions: [], definitionsDelay: 0 });
    await fresh.gatekeeper.start();
    await nodes.time.advance(2 * SWEEP);
    expect(await fresh.gatekeeper.definitions.get('x')).toBeUndefined();
    await fresh.gatekeeper.definitions.define({ name: 'x', duration: '20s' }, { by: 'bob' });
    await nodes.time.advance(500);
    expect(archive.content.get('x')?.definition?.duration).toBe(20_000);
  });

  it('that an operator removed takes no permit away when the archive is loaded', async () => {
    const nodes = cluster();
    const archive = new ScriptedArchive();
    archive.content = new Map([['x', { name: 'x', revision: 5 }]]);
    const user = await nodes.node();
    const permit = (await user.gatekeeper.tryAcquire('x', { duration: '5m' }))!;
    const loading = await nodes.node({ persistence: archive.persistence });
    await nodes.time.advance(2 * SWEEP);
    expect(await takeOutside(loading, 'x', undefined, 'http:bob')).toMatchObject({ outcome: 'denied' });
    expect(await permit.refresh()).toBe(true);
  });
});
