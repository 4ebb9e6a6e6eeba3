import type { Permit } from 'nestjs-gatekeeper';
import { shardOf } from '../../../lib/core/decision/index.js';
import { partsOf } from '../../../lib/gatekeeper/parts.js';
import { FEW_SHARDS } from '../../support/born.js';
import { JOB, useCluster } from '../../support/nodes.js';
import { ScriptedArchive } from '../../support/scripted-archive.js';

const MINUTE = 60_000;
const NONE = { definitions: [] };

describe("a node's look at what it knows", () => {
  const cluster = useCluster();
  const MANY = Array.from({ length: 30 }, (_, index) => ({ ...JOB, name: `job ${index}` }));

  /** A node that never gets the turn, and a sweeper that is not there any more. */
  async function alone() {
    const nodes = cluster();
    const former = await nodes.node({ definitions: [], sweepInterval: '1h' });
    await partsOf(former.gatekeeper).semaphoreSync.takeDuty();
    const node = await nodes.node({ definitions: MANY });
    // The loading of definitions counts as use.
    await nodes.time.advance(MINUTE);
    return { nodes, node };
  }

  it('restores a lost record within a minute although nothing was done with it, and the others with it at once', async () => {
    const { nodes, node } = await alone();
    const [lost, other] = ['job 3', 'job 4'];
    await nodes.overwrite(undefined, lost);
    await nodes.overwrite(undefined, other);
    let first = 0;
    for (let second = 0; second < 70 && first === 0; second++) {
      await nodes.time.advance(1000);
      if (node.of('restored').length > 0) first = second;
    }
    expect(first).toBeGreaterThan(0);
    await nodes.time.advance(0);
    expect(
      node
        .of('restored')
        .map(({ semaphore }) => semaphore)
        .toSorted(),
    ).toEqual([lost, other]);
    expect(await nodes.record(lost)).toMatchObject({ grace: expect.anything() });
  });

  /** In each of the turns of the rotation. */
  const SIX = MANY.slice(0, 6).map(({ name }) => name);

  it.each([
    ['holds', (permit: Permit) => expect(permit.isHeld).toBe(true)],
    ['used a moment ago', (permit: Permit) => permit.release()],
  ])('finds within one interval that a record is lost which the node %s', async (how, use) => {
    const { nodes, node } = await alone();
    for (const name of SIX) {
      const permit = (await node.gatekeeper.tryAcquire(name, { duration: '1h' }))!;
      if (how === 'holds') await nodes.time.advance(11_500);
      await use(permit);
      const already = node.of('restored').length;
      await nodes.overwrite(undefined, name);
      await nodes.time.advance(11_500);
      expect(node.of('restored').slice(already)).toMatchObject([{ semaphore: name }]);
    }
  });

  it('reads few records where nothing happens, and all of them within a minute', async () => {
    const { nodes, node } = await alone();
    await nodes.time.advance(2 * MINUTE);
    const asked: string[][] = [];
    const { readMany } = node.store.records;
    const isRecord = (key: string) => key.startsWith('semaphore:');
    node.store.records.readMany = (keys) => (asked.push(keys.filter(isRecord)), readMany(keys));
    await nodes.time.advance(66_000);
    expect(new Set(asked.flat()).size).toBe(30);
    expect(asked.flat().length).toBeLessThan(60);
    expect(node.store.calls.page).toBe(0);
  });

  it('reads the shards without names in turn, and one with a name each time', async () => {
    const { nodes, node } = await alone();
    await node.gatekeeper.tryAcquire('order-7', { duration: '10m' });
    await nodes.time.advance(MINUTE);
    const asked: string[] = [];
    const { readMany } = node.store.records;
    const isShard = (key: string) => key.startsWith('shard:');
    node.store.records.readMany = (keys) => (asked.push(...keys.filter(isShard)), readMany(keys));
    await nodes.time.advance(2 * MINUTE);
    const used = `shard:${shardOf('order-7', FEW_SHARDS)}`;
    const readsOf = (each: string) => asked.filter((key) => key === each).length;
    for (let shard = 0; shard < FEW_SHARDS; shard++) {
      const [least, most] = `shard:${shard}` === used ? [11, 13] : [1, 3];
      expect(readsOf(`shard:${shard}`)).toBeGreaterThanOrEqual(least);
      expect(readsOf(`shard:${shard}`)).toBeLessThanOrEqual(most);
    }
  });

  it('begins at once when the store reports that anything may have changed', async () => {
    const { nodes, node } = await alone();
    for (const { name } of MANY) await nodes.overwrite(undefined, name);
    const { cluster: inner } = nodes.raw as unknown as { cluster: { announce(...args: unknown[]): void } };
    inner.announce({}, 'all', nodes.raw);
    await nodes.time.advance(0);
    expect(node.of('restored')).toHaveLength(30);
  });

  it("brings an operator's edit to a holder at once", async () => {
    const { nodes, node } = await alone();
    const operator = await nodes.node({ definitions: [], sweepInterval: '1h' });
    const permit = (await node.gatekeeper.tryAcquire('job 1', { duration: '1h' }))!;
    await operator.gatekeeper.definitions.remove('job 1');
    await nodes.time.advance(1000);
    expect(permit.isHeld).toBe(false);
  });
});

describe('the archive of a node that does not sweep', () => {
  const cluster = useCluster();

  it('has what operators changed of a semaphore that the node does not know, from the hint alone', async () => {
    const nodes = cluster();
    const archive = new ScriptedArchive();
    await nodes.node({ ...NONE, persistence: archive.persistence, sweepInterval: '1h' });
    const { gatekeeper } = await nodes.node();
    await gatekeeper.definitions.pause('job');
    await nodes.time.advance(1000);
    expect([...archive.content.keys()]).toEqual(['job']);
  });

  it('has it also where the hint was lost, within a minute', async () => {
    const nodes = cluster();
    const archive = new ScriptedArchive();
    const { gatekeeper } = await nodes.node();
    await partsOf(gatekeeper).semaphoreSync.takeDuty();
    const deaf = await nodes.node({ ...NONE, persistence: archive.persistence });
    deaf.store.isDeaf = true;
    await nodes.time.advance(12_000);
    await gatekeeper.definitions.pause('job');
    await nodes.time.advance(66_000);
    expect([...archive.content.keys()]).toEqual(['job']);
  });
});
