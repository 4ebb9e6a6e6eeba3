import { createServer } from 'node:net';
import { randomUUID } from 'node:crypto';
import { hazelcast, type OwnClientOptions } from '../../../lib/stores/hazelcast/index.js';
import { StoreUnavailableError } from '../../../lib/core/store/store.errors.js';
import type { RecordChange, Driver } from '../../../lib/core/store/driver.js';
import { type HazelcastCluster, startHazelcast } from '../../../lib/testing/index.js';
import { eventually } from '../../../test/contract/eventually.js';
import { describeOnHazelcast, itOnHazelcast } from '../../needs/members.js';
import { allTexts } from '../../../lib/core/store/paging.js';

let cluster: HazelcastCluster;
const opened: Driver[] = [];

function open(options: OwnClientOptions = {}): Driver {
  const store = hazelcast({ clusterName: cluster.clusterName, members: cluster.addresses, ...options }).open();
  opened.push(store);
  return store;
}

/** Starts the member unless it runs; tests in a row that want it the same way leave it as it is. */
async function present(): Promise<void> {
  if (!cluster.members[0]!.running) await cluster.members[0]!.start();
}

async function absent(): Promise<void> {
  if (cluster.members[0]!.running) await cluster.members[0]!.kill();
}

const connected = (store: Driver) => eventually('the store is connected', () => store.health().connected);
const disconnected = (store: Driver) => eventually('the store is disconnected', () => !store.health().connected);

/** Handles that keep a process alive, as far as a client could have left them. */
const handles = () =>
  process
    .getActiveResourcesInfo()
    .filter((type) => /TCP|Timeout|Immediate|GetAddrInfo/.test(type))
    .toSorted();

beforeAll(async () => {
  cluster = await startHazelcast();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});
afterAll(() => cluster?.stop());

describeOnHazelcast('A store whose members are absent when it is opened', () => {
  it.each<[string, (store: Driver) => Promise<unknown>]>([
    ['read', (store) => store.records.read('key')],
    ['compareAndSet', (store) => store.records.compareAndSet('key', undefined, 'text')],
    ['list', (store) => allTexts(store.records, '')],
    ['now', (store) => store.now()],
  ])('refuses %s at once, and says why', async (_name, call) => {
    await absent();
    const store = open();
    await eventually('a failed attempt', () => store.health().problem!.includes('ECONNREFUSED'));
    const nextTurn = new Promise((resolve) => setImmediate(resolve, 'too late'));
    const error = await Promise.race([call(store).catch((caught: unknown) => caught), nextTurn]);
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect((error as Error).message).toContain(
      `Not connected to cluster "${cluster.clusterName}" at ${cluster.addresses[0]}`,
    );
    expect(store.health()).toMatchObject({ connected: false, members: 0 });
  });

  it('connects when they come, and a watch that was begun before then works', async () => {
    await absent();
    const [store, other, key] = [open(), open(), randomUUID()];
    const changes: RecordChange[] = [];
    await store.watch(key, (change) => changes.push(change));
    await cluster.members[0]!.start();
    await Promise.all([connected(store), connected(other)]);
    expect(changes).toContainEqual({});
    await other.records.compareAndSet(key, undefined, 'text');
    await eventually('the change', () => changes.some(({ text }) => text === 'text'));
    expect(store.health()).toEqual({ connected: true, members: 1, expected: 1, quorum: 0 });
  });

  it('leaves no open handle when it is closed before it ever connected', async () => {
    await absent();
    // Sockets of the test before this one may still be closing: counted here, they would be missed afterwards.
    await eventually('no socket is left', () => !handles().some((type) => type.startsWith('TCP')));
    const before = handles();
    const store = open();
    await eventually('a failed attempt', () => store.health().problem!.includes('ECONNREFUSED'));
    await store.close();
    await eventually('the handles are gone', () => expect(handles()).toEqual(before));
  });

  it('closes in a few seconds though the first attempt to connect is stuck', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await eventually('the server listens', () => silent.listening);
    const { port } = silent.address() as { port: number };
    const store = open({ members: [`127.0.0.1:${port}`] });
    await eventually(
      'the client is connecting',
      () => new Promise<boolean>((resolve) => silent.getConnections((_, n) => resolve(n > 0))),
    );
    const began = performance.now();
    await store.close();
    expect(performance.now() - began).toBeLessThan(4000);
    silent.close();
  });

  it('says so when the name of the cluster is another', async () => {
    await present();
    const store = open({ clusterName: 'another' });
    await eventually('a failed attempt', () => store.health().problem!.includes('cluster name'));
  });
});

describeOnHazelcast('A store whose member is killed', () => {
  it('becomes unavailable, works again after the restart, and reports a change without a key', async () => {
    await present();
    const [store, key] = [open(), randomUUID()];
    const changes: RecordChange[] = [];
    await connected(store);
    await store.watch(key, (change) => changes.push(change));
    await cluster.members[0]!.kill();
    await disconnected(store);
    await expect(store.records.read(key)).rejects.toThrow(StoreUnavailableError);
    expect(store.health()).toMatchObject({ members: 0, problem: expect.any(String) });

    await cluster.members[0]!.start();
    await connected(store);
    expect(changes).toEqual([{}]);
    expect(await store.records.compareAndSet(key, undefined, 'again')).toBe(true);
    await eventually('the change', () => changes.some(({ text }) => text === 'again'));
    expect(changes.filter(({ text }) => text === 'again')).toHaveLength(1);
  });

  it('finds the members that it had seen, though the configured one is gone for good', async () => {
    await present();
    const store = open({ members: [cluster.addresses[0]!] });
    await connected(store);
    const second = await cluster.addMember();
    await eventually('both members are seen', () => store.health().members === 2);
    await cluster.members[0]!.kill();
    await eventually('one member is left', () => store.health().members === 1);
    expect(store.health()).toMatchObject({ members: 1, expected: 2 });
    expect(await store.records.compareAndSet(randomUUID(), undefined, 'text')).toBe(true);
    await second.kill();
    await disconnected(store);
    await second.start();
    await connected(store);
    await second.kill();
  });
});

itOnHazelcast('A store that is closed leaves no open handle', async () => {
  await present();
  const before = handles();
  const store = open();
  await connected(store);
  await store.watch('', () => undefined);
  await store.close();
  await eventually('the handles are gone', () => expect(handles()).toEqual(before));
});
