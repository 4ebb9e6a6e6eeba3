import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { hazelcast } from '../../lib/stores/hazelcast/index.js';
import { StoreUnavailableError } from '../../lib/stores/store.errors.js';
import type { RecordStore } from '../../lib/stores/store.js';
import { type HazelcastCluster, startHazelcast } from '../../lib/testing/index.js';
import { eventually } from './eventually.js';
import { describeOnHazelcast } from '../needs/members.js';

const READS: [string, (store: RecordStore) => Promise<unknown>][] = [
  ['read', (store) => store.read('key')],
  ['list', (store) => store.list('')],
  ['the reading of a journal', (store) => store.journal('runs').read(1)],
];

describeOnHazelcast('while the first attempt to connect is under way', () => {
  let cluster: HazelcastCluster;
  beforeAll(async () => void (cluster = await startHazelcast()), 90_000);
  afterAll(() => cluster?.stop());

  it.each(READS)('%s waits for it', async (_name, call) => {
    const store = hazelcast({ clusterName: cluster.clusterName, members: cluster.addresses }).open();
    const answer = call(store);
    expect(store.health().connected).toBe(false);
    await answer;
    expect(store.health().connected).toBe(true);
    await store.close();
  });

  it.each(READS)('%s gives up after the call timeout', async (_name, call) => {
    const silent = createServer().listen(0, '127.0.0.1');
    await eventually('the server listens', () => silent.listening);
    const { port } = silent.address() as { port: number };
    const store = hazelcast({ clusterName: 'dev', members: [`127.0.0.1:${port}`] }).open({ callTimeout: 300 });
    const began = performance.now();
    await expect(call(store)).rejects.toThrow(StoreUnavailableError);
    expect(performance.now() - began).toBeGreaterThanOrEqual(295);
    const waiting = call(store);
    const closing = store.close();
    await expect(waiting).rejects.toThrow('is closed');
    await closing;
    silent.close();
  });
});
