import { randomUUID } from 'node:crypto';
import { type Client, HazelcastJsonValue, type IMap } from 'hazelcast-client';
import { hazelcast } from '../../../lib/stores/hazelcast/index.js';
import type { RecordChange, Driver } from '../../../lib/core/store/driver.js';
import { type HazelcastCluster, startHazelcast } from '../../../lib/testing/index.js';
import { eventually } from '../../../test/contract/eventually.js';
import { newClient } from './hazelcast-clients.js';
import { describeOnHazelcast } from '../../needs/members.js';
import { allTexts } from '../../../lib/core/store/paging.js';

const UNKNOWN_TYPE = 4711;

/** Of a type that only the other program can read, as a Java object would be. */
class OtherProgramsObject {
  readonly hzCustomId = UNKNOWN_TYPE;
}

const serializer = {
  id: UNKNOWN_TYPE,
  read: () => new OtherProgramsObject(),
  write: (output: { writeInt(value: number): void }) => output.writeInt(1),
};

describeOnHazelcast('Values that another program put into the map of records', () => {
  let cluster: HazelcastCluster;
  let program: Client;
  let map: IMap<unknown, unknown>;
  let hints: IMap<unknown, unknown>;
  let store: Driver;

  beforeAll(async () => {
    cluster = await startHazelcast();
    program = await newClient(cluster, { serialization: { customSerializers: [serializer] } });
    map = await program.getMap('gatekeeper.records');
    hints = await program.getMap('gatekeeper.records.hints');
    store = hazelcast({ clusterName: cluster.clusterName, members: cluster.addresses }).open();
    await eventually('the store is connected', () => store.health().connected);
  });
  afterAll(async () => {
    await store?.close();
    await program?.shutdown();
    await cluster?.stop();
  });

  const values: [string, () => unknown][] = [
    ['a HazelcastJsonValue', () => new HazelcastJsonValue('{ "permits": [] }')],
    ['a number', () => 42],
    ['a boolean', () => true],
    ['a list', () => ['{}']],
    ['an object of a type that only it can read', () => new OtherProgramsObject()],
  ];

  it.each(values)('are read as a text that is no record: %s', async (_what, value) => {
    const key = randomUUID();
    await map.set(key, value());
    const text = await store.records.read(key);
    expect(text).toEqual(expect.any(String));
    expect(() => JSON.parse(text!)).toThrow(SyntaxError);
    expect(await allTexts(store.records, key)).toEqual(new Map([[key, text]]));
  });

  it.each(values)('harm no watch when the record is written over them: %s', async (_what, value) => {
    const [key, changes]: [string, RecordChange[]] = [randomUUID(), []];
    const end = await store.watch(key, (change) => changes.push(change));
    await map.set(key, value());
    await map.delete(key);
    await eventually('word of the removal', () => changes.some((change) => change.key === key));
    await store.records.compareAndSet(key, undefined, 'good');
    await eventually('word of the text', () => changes.some(({ text }) => text === 'good'));
    await end();
  });

  it.each(values)('do not hide the records beside them from a list: %s', async (_what, value) => {
    const prefix = randomUUID();
    await store.records.compareAndSet(`${prefix}:good`, undefined, 'good');
    await map.set(`${prefix}:foreign`, value());
    expect((await allTexts(store.records, prefix)).get(`${prefix}:good`)).toBe('good');
  });

  it('make a compare-and-set answer false', async () => {
    const key = randomUUID();
    await map.set(key, 42);
    expect(await store.records.compareAndSet(key, undefined, 'text')).toBe(false);
    expect(await store.records.compareAndSet(key, await store.records.read(key), 'text')).toBe(false);
  });

  it('may have keys that are no text: those are not listed and cause no event', async () => {
    const [key, changes]: [string, RecordChange[]] = [randomUUID(), []];
    const end = await store.watch('', (change) => changes.push(change));
    await map.set(42, 'under a number');
    await map.set(new OtherProgramsObject(), 'under an object');
    await hints.set(new OtherProgramsObject(), new OtherProgramsObject());
    await hints.set(42, 42);
    await map.delete(42);
    await store.records.compareAndSet(key, undefined, 'text');
    await eventually('word of the text', () => changes.some((change) => change.key === key));
    expect(changes.filter((change) => change.key !== key)).toEqual([]);
    await map.delete(new OtherProgramsObject());
    expect((await allTexts(store.records, '')).get(key)).toBe('text');
    await end();
  });
});

describeOnHazelcast('A record that another program removes', () => {
  let cluster: HazelcastCluster;
  let store: Driver;
  let map: IMap<string, string>;
  let program: Client;
  const changes: RecordChange[] = [];

  beforeAll(async () => {
    cluster = await startHazelcast();
    program = await newClient(cluster);
    map = await program.getMap('gatekeeper.records');
    store = hazelcast({ clusterName: cluster.clusterName, members: cluster.addresses }).open();
    await eventually('the store is connected', () => store.health().connected);
    await store.watch('', (change) => changes.push(change));
  });
  afterAll(async () => {
    await store?.close();
    await program?.shutdown();
    await cluster?.stop();
  });

  it.each<[string, (key: string) => Promise<unknown>]>([
    ['delete', (key) => map.delete(key)],
    ['evict', (key) => map.evict(key)],
    ['expiry', (key) => map.setTtl(key, 1000)],
  ])('is reported with its key and no text: %s', async (_how, remove) => {
    const key = randomUUID();
    await store.records.compareAndSet(key, undefined, 'text');
    await eventually('word of the text', () => changes.some((change) => change.text === 'text' && change.key === key));
    changes.length = 0;
    await remove(key);
    await eventually(
      'word of the removal',
      async () =>
        (await store.records.read(key)) === undefined &&
        changes.some((change) => change.key === key && !('text' in change)),
    );
  });

  it('by clearing the whole map is reported without a key', async () => {
    await store.records.compareAndSet(randomUUID(), undefined, 'text');
    changes.length = 0;
    await map.clear();
    await eventually('word of the clearing', () => changes.some((change) => Object.keys(change).length === 0));
  });
});
