import type { Client } from 'hazelcast-client';
import { hazelcast } from '../../../lib/stores/hazelcast/index.js';
import type { Driver } from '../../../lib/core/store/driver.js';
import { type HazelcastCluster, startHazelcast } from '../../../lib/testing/index.js';
import { lackOfMembers } from '../../needs/members.js';
import { describeUnless } from '../../../test/support/unless.js';
import { eventually } from '../../../test/contract/eventually.js';
import { newClient } from './hazelcast-clients.js';
import { UNHURRIED } from '../../../test/contract/unhurried.js';

describeUnless(lackOfMembers)('clients that wait for a key of hazelcast()', () => {
  let cluster: HazelcastCluster;
  let client: Client;
  const stores: Driver[] = [];

  beforeAll(async () => {
    cluster = await startHazelcast();
    client = await newClient(cluster);
  });
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await client?.shutdown();
    await cluster?.stop();
  });

  async function open(writer: string, mapName: string): Promise<{ store: Driver; heard: string[] }> {
    const { clusterName, addresses: members } = cluster;
    const store = hazelcast({ clusterName, members, mapName }).open({ ...UNHURRIED, writer });
    stores.push(store);
    await eventually('the store is connected', () => store.health().connected);
    const heard: string[] = [];
    await store.watch('job', ({ key, text }) => heard.push(`${key} ${text}`));
    return { store, heard };
  }

  it('are the only ones that hear of a write for those who wait, with its text', async () => {
    const [writer, waiter, idle] = await Promise.all(['w', 'x%y_z', 'i'].map((name) => open(name, 'only')));
    const end = waiter!.store.awaitChanges!('job 1');
    let count = 0;
    const write = async (notify: 'waiting' | 'all') => {
      const { store } = writer!;
      await store.records.compareAndSet('job 1', await store.records.read('job 1'), `text ${++count}`, { notify });
    };
    await eventually('the waiter hears of it', async () => {
      await write('waiting');
      return waiter!.heard.length > 0;
    });
    end();
    expect(waiter!.heard[0]).toMatch(/^job 1 text \d+$/);
    await write('all');
    await eventually(
      'all hear of an edit',
      () => idle!.heard.length > 0 && waiter!.heard.includes(`job 1 text ${count}`),
    );
    expect(idle!.heard).toEqual([`job 1 text ${count}`]);
    expect(writer!.heard).toEqual([]);
  });

  it('cost nothing where there are none: no hint is left', async () => {
    const [one, other] = await Promise.all(['one', 'other'].map((name) => open(name, 'none')));
    for (let count = 0; count < 50; count++) {
      const key = `job ${count}`;
      await one!.store.records.compareAndSet(key, undefined, 'text', { notify: 'waiting' });
    }
    await one!.store.records.compareAndSet('job last', undefined, 'text', { notify: 'all' });
    await eventually('the last one is heard of', () => other!.heard.length > 0);
    expect(other!.heard).toEqual(['job last text']);
    expect(await (await client.getMap('none.hints')).keySet()).toEqual(['* one job last']);
    expect(await (await client.getMap('none.waiters')).size()).toBe(0);
  });

  it('say so once for many waits', async () => {
    const { store } = await open('busy', 'often');
    for (let count = 0; count < 500; count++) store.awaitChanges!('job')();
    const waiters = await client.getMap('often.waiters');
    await eventually('it was said', async () => (await waiters.size()) === 1);
    const view = await waiters.getEntryView('busy job');
    expect(view?.version.toNumber()).toBeLessThan(3);
  });
});
