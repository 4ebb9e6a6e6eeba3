import { SHARD_PREFIX, decodeShard, encodeShard, pendingRecord, shardOf } from '../../../lib/core/decision/index.js';
import { encodeRecord } from '../../../lib/core/decision/record.codec.js';
import { UnknownOutcomeError } from '../../../lib/core/store/index.js';
import { FEW_SHARDS } from '../../support/born.js';
import { keyOf, outcomeOf, shardKeyOf, useCluster } from '../../support/nodes.js';
import { type Go, onNextWrite } from '../../support/scripted-store.js';
import { put, shardIn } from '../../support/shards.js';

const SHORT = { duration: '10s' };
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const SWEEP = 12_500;

describe('a claim', () => {
  const cluster = useCluster();

  it('does not keep a name for ever when the node that made it died before its record was in force', async () => {
    const nodes = cluster();
    await nodes.bear();
    const shard = shardOf('x', FEW_SHARDS);
    await put(nodes, keyOf('x'), encodeRecord(pendingRecord(nodes.time.cluster(), 'dead')));
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
    await expect(node.gatekeeper.definitions.remove('x')).rejects.toThrow(/defines it and nothing would run/);
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
    await nodes.raw.records.compareAndSet('semaphore:former', undefined, JSON.stringify(record));
    const node = nodes.unstarted({ definitions: [{ name: 'new', duration: '10s' }], definitionsDelay: 0 });
    await node.gatekeeper.start();
    const ready = node.gatekeeper.ready({ timeout: '10m' });
    await nodes.time.advance(60_000);
    expect(await outcomeOf(ready)).toMatchObject({ value: undefined });
  });
});

describe('a claim that a stale node lost', () => {
  const cluster = useCluster();

  it.each(['10s', '1h'])('keeps its name from two holders, sweeping each %s', async (sweepInterval) => {
    const nodes = cluster();
    const stale = await nodes.node({ sweepInterval: '1h', definitions: [] });
    stale.store.isDeaf = true;
    const before = (await nodes.raw.records.read(shardKeyOf('x')))!;
    const node = await nodes.node({ sweepInterval, definitions: [{ name: 'x', duration: '2h' }] });
    const first = await node.gatekeeper.tryAcquire('x');
    expect(first?.isHeld).toBe(true);
    const shard = shardOf('x', FEW_SHARDS);
    expect(decodeShard(shard, (await nodes.raw.records.read(SHARD_PREFIX + shard))!).claims.has('x')).toBe(true);
    expect(before).toBeDefined();
    nodes.lose(shardKeyOf('x'));
    expect(await stale.gatekeeper.tryAcquire('x', SHORT)).toBeUndefined();
    await nodes.time.advance(16 * 60_000);
    const second = await stale.gatekeeper.tryAcquire('x', SHORT);
    expect([first!.isHeld, second !== undefined]).not.toEqual([true, true]);
  });
});

describe('the first write of a record that arrives after the store lost everything', () => {
  const cluster = useCluster();

  it('brings the record back with a grace, also on a node that knows only the claim of the name', async () => {
    const nodes = cluster();
    await nodes.bear();
    const definitions = [{ name: 'x', ...SHORT }];
    const holder = nodes.unstarted({ definitions, definitionsDelay: 1000, sweepInterval: '1h' });
    await holder.gatekeeper.start();
    let arriveLate!: Go;
    onNextWrite(holder.store, (go) => {
      arriveLate = go;
      return Promise.reject(new UnknownOutcomeError('no answer'));
    });
    await nodes.time.advance(2000);
    const permit = await holder.gatekeeper.tryAcquire('x');
    holder.store.isDeaf = true;

    const other = nodes.unstarted({ definitions, definitionsDelay: 1000 });
    other.store.isDeaf = true;
    await other.gatekeeper.start();
    await nodes.time.advance(500);
    nodes.loseAll();
    expect(await arriveLate()).toBe(true);
    expect(await nodes.record('x')).toMatchObject({ revision: 0 });
    await nodes.time.advance(2000);
    expect(await nodes.record('x')).toMatchObject({ revision: 1, permits: [] });

    const trying = () => other.gatekeeper.tryAcquire('x');
    expect([permit?.isHeld, await trying()]).toEqual([true, undefined]);
    await nodes.time.advance(20_000);
    expect([permit?.isHeld, (await trying())?.isHeld]).toEqual([false, true]);
  });
});
