import { describe, expect, it } from '@jest/globals';
import { InvalidOptionsError } from 'nestjs-gatekeeper';
import { SHARD_PREFIX, decodeShard, encodeShard, pendingRecord, shardOf } from '../../lib/decision/index.js';
import { encodeRecord } from '../../lib/decision/record.codec.js';
import { partsOf } from '../../lib/gatekeeper/index.js';
import { FEW_SHARDS, namesIn } from '../support/born.js';
import { type TestCluster, type TestNode, outcomeOf, shardKeyOf, useCluster } from '../support/nodes.js';
import { ScriptedArchive } from '../support/scripted-archive.js';

const SHORT = { duration: '10s' };
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const byAnn = { by: 'ann' };
const SWEEP = 12_500;

const shardIn = async (nodes: TestCluster, shard: string) =>
  decodeShard(shard, (await nodes.raw.read(SHARD_PREFIX + shard))!);
const put = async (nodes: TestCluster, key: string, text: string) => {
  await nodes.raw.compareAndSet(key, await nodes.raw.read(key), text);
};
const takeOutside = ({ gatekeeper }: TestNode, semaphore: string, duration?: number, instance = 'http:ann') =>
  partsOf(gatekeeper).external.take(
    { semaphore, instance, acquirer: 'ann', holder: 'script', ...(duration !== undefined && { duration }) },
    { wait: 0, signal: new AbortController().signal },
  );

describe('the cap on durations', () => {
  const cluster = useCluster();

  it('holds for a node that requires definitions, too', async () => {
    const nodes = cluster();
    const node = await nodes.node({ requireDefinitions: true });
    await node.gatekeeper.definitions.define({ name: 'x', duration: '30s' });
    await expect(node.gatekeeper.tryAcquire('x', { duration: '1h' })).rejects.toThrow(InvalidOptionsError);
  });

  it('holds for external clients, too', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    await node.gatekeeper.definitions.define({ name: 'x', duration: '30s' });
    await expect(takeOutside(node, 'x', HOUR)).rejects.toThrow(InvalidOptionsError);
  });

  it('is what keeps a name from two holders after the loss of a shard', async () => {
    const nodes = cluster();
    const node = await nodes.node({ requireDefinitions: true });
    await node.gatekeeper.definitions.define({ name: 'x', duration: '30s' });
    const first = await takeOutside(node, 'x', HOUR).catch(() => undefined);
    await node.gatekeeper.close();
    nodes.lose(shardKeyOf('x'));
    const fresh = await nodes.node();
    await nodes.time.advance(16 * 60_000);
    const second = await fresh.gatekeeper.tryAcquire('x', SHORT);
    expect([first?.outcome === 'granted', second !== undefined]).not.toEqual([true, true]);
  });
});

describe('a shard that can not be read', () => {
  const cluster = useCluster();

  it('keeps no definition of another shard from being loaded', async () => {
    const nodes = cluster();
    await nodes.bear();
    const [bad] = namesIn('0', 1);
    const [good] = namesIn('1', 1);
    await put(nodes, SHARD_PREFIX + '0', 'rubbish');
    const definitions = [bad!, good!].map((name) => ({ name, duration: '10s' }));
    const node = await nodes.node({ definitions });
    await nodes.time.advance(2 * SWEEP);
    expect(await outcomeOf(node.gatekeeper.tryAcquire(good!))).toMatchObject({ value: { isHeld: true } });
  });

  it('stops neither the looks nor the claims of other names', async () => {
    const nodes = cluster();
    const [bad] = namesIn('0', 1);
    const [good] = namesIn('1', 1);
    const definitions = [bad!, good!].map((name) => ({ name, duration: '10s' }));
    const node = await nodes.node({ definitions });
    await put(nodes, SHARD_PREFIX + '0', 'rubbish');
    await put(nodes, SHARD_PREFIX + '1', 'rubbish');
    await nodes.time.advance(2 * SWEEP);
    const problems = node.of('problem').map(({ action, error }) => `${action}: ${String(error)}`);
    expect(problems).toEqual([]);
  });

  it('is granted from again once the text is removed', async () => {
    const nodes = cluster();
    await nodes.bear();
    await put(nodes, SHARD_PREFIX + '0', 'rubbish');
    const node = await nodes.node();
    const [name] = namesIn('0', 1);
    nodes.lose(SHARD_PREFIX + '0');
    await nodes.time.advance(40 * 60_000);
    expect(await outcomeOf(node.gatekeeper.tryAcquire(name!, SHORT))).toMatchObject({ value: { isHeld: true } });
  });
});

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
    expect((await nodes.raw.read(shardKeyOf('x')))!).toContain('"name":"x"');
    const second = await takeOutside(fresh, 'x', undefined, 'http:bob');
    expect([first.outcome, second.outcome]).toEqual(['granted', 'denied']);
  });
});

describe('a claim', () => {
  const cluster = useCluster();

  it('does not keep a name for ever when the node that made it died before its record was in force', async () => {
    const nodes = cluster();
    await nodes.bear();
    const shard = shardOf('x', FEW_SHARDS);
    await put(nodes, `semaphore:x`, encodeRecord(pendingRecord('dead', nodes.time.cluster(), 'n')));
    const found = await shardIn(nodes, shard);
    await put(nodes, SHARD_PREFIX + shard, encodeShard({ ...found, seq: 1, claims: new Map([['x', 'dead']]) }));
    const node = await nodes.node();
    await nodes.time.advance(HOUR);
    expect(await outcomeOf(node.gatekeeper.tryAcquire('x', SHORT))).toMatchObject({ value: { isHeld: true } });
  });

  it('does not keep a name for ever when its record was lost and no code defines it any more', async () => {
    const nodes = cluster();
    const former = await nodes.node({ definitions: [{ name: 'x', ...SHORT }] });
    await former.gatekeeper.close();
    await nodes.overwrite(undefined, 'x');
    const node = await nodes.node();
    const tryIt = () => node.gatekeeper.tryAcquire('x', SHORT);
    expect(await tryIt()).toBeUndefined();
    await nodes.time.advance(MINUTE);
    // Its last holder is not known: nothing is granted for as long as a permit may last.
    expect(await tryIt()).toBeUndefined();
    await nodes.time.advance(14 * MINUTE);
    expect(await tryIt()).toBeUndefined();
    await nodes.time.advance(2 * MINUTE);
    expect(await tryIt()).toMatchObject({ isHeld: true });
    expect(await nodes.record('x')).toMatchObject({ definition: { duration: 10_000, permits: 1 } });
  });
});

describe('a name that code declares after an operator defined it', () => {
  const cluster = useCluster();

  it("has the code's definition once the operator's is removed", async () => {
    const nodes = cluster();
    const other = await nodes.node();
    await other.gatekeeper.definitions.define({ name: 'x', duration: '10s' });
    const node = await nodes.node({ definitions: [{ name: 'x', duration: '20s' }] });
    await nodes.time.advance(SWEEP);
    expect(await node.gatekeeper.definitions.remove('x')).toBe(true);
    await nodes.time.advance(3 * SWEEP);
    expect(await node.gatekeeper.definitions.get('x')).toMatchObject({ definition: { duration: 20_000 } });
    expect(await node.gatekeeper.definitions.remove('x')).toBe(true);
    await nodes.time.advance(3 * SWEEP);
    expect(await node.gatekeeper.definitions.get('x')).toBeUndefined();
  });
});

describe('a name that code declares while another node keeps it alive on demand', () => {
  const cluster = useCluster();

  it('does not keep the declaring node from being ready', async () => {
    const nodes = cluster();
    const other = await nodes.node();
    await other.gatekeeper.tryAcquire('x', { duration: '20s', keepAlive: true });
    const node = await nodes.node({ definitions: [{ name: 'x', duration: '10s' }] });
    const ready = node.gatekeeper.ready({ timeout: '10m' });
    await nodes.time.advance(5 * 60_000);
    expect(await outcomeOf(ready)).toMatchObject({ value: undefined });
  });
});

describe('an upgrade from the former version', () => {
  const cluster = useCluster();

  it('grants a job that is new in the code within seconds', async () => {
    const nodes = cluster();
    const record = { v: 1, nonce: 'n', seq: 1, at: 1, revision: 1, lastToken: 0, permits: [] };
    await nodes.raw.compareAndSet('semaphore:former', undefined, JSON.stringify(record));
    const node = nodes.unstarted({ definitions: [{ name: 'new', duration: '10s' }], definitionsDelay: 0 });
    await node.gatekeeper.start();
    const ready = node.gatekeeper.ready({ timeout: '10m' });
    await nodes.time.advance(60_000);
    expect(await outcomeOf(ready)).toMatchObject({ value: undefined });
  });
});

describe('a name that code defines with a long duration', () => {
  const cluster = useCluster();

  it('is granted for as long as the call asks right after the birth of a cluster', async () => {
    const nodes = cluster();
    const node = nodes.unstarted({ definitions: [{ name: 'long', duration: '2h' }], definitionsDelay: '5s' });
    await node.gatekeeper.start();
    const taking = node.gatekeeper.tryAcquire('long', { duration: '1h' });
    await nodes.time.advance(SWEEP);
    expect(await outcomeOf(taking)).toMatchObject({ value: { isHeld: true } });
  });

  it('is denied, not refused as too long, while another node holds it on demand', async () => {
    const nodes = cluster();
    const other = await nodes.node();
    await other.gatekeeper.tryAcquire('long', { duration: '20s', keepAlive: true });
    const node = await nodes.node({ definitions: [{ name: 'long', duration: '2h' }] });
    expect(await node.gatekeeper.tryAcquire('long', { duration: '1h' })).toBeUndefined();
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
