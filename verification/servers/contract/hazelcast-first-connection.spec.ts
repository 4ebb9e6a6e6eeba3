import { once } from 'node:events';
import { type AddressInfo, type Socket, createServer } from 'node:net';
import { hazelcast } from '../../../lib/stores/hazelcast/index.js';
import { StoreUnavailableError } from '../../../lib/core/store/store.errors.js';
import type { Driver } from '../../../lib/core/store/driver.js';
import { type HazelcastCluster, startHazelcast } from '../../../lib/testing/index.js';
import { describeOnHazelcast } from '../../needs/members.js';
import { allTexts } from '../../../lib/core/store/paging.js';

const READS: [string, (store: Driver) => Promise<unknown>][] = [
  ['read', (store) => store.records.read('key')],
  ['list', (store) => allTexts(store.records, '')],
  ['the reading of a journal', (store) => store.journal('runs').read(1)],
];

/** An attempt can't be stopped, only end by itself: before the end of the test that closes the store. */
const SHORT_ATTEMPT = { properties: { 'hazelcast.client.heartbeat.timeout': 1500 } };

describeOnHazelcast('while the first attempt to connect is under way', () => {
  let cluster: HazelcastCluster;
  beforeAll(async () => void (cluster = await startHazelcast()));
  afterAll(() => cluster?.stop());

  it.each(READS)('%s waits for it', async (_name, call) => {
    // No promise is about the time that it takes: a busy machine may need some seconds.
    const store = hazelcast({ clusterName: cluster.clusterName, members: cluster.addresses }).open({
      callTimeout: 20_000,
    });
    const answer = call(store);
    expect(store.health().connected).toBe(false);
    await answer;
    expect(store.health().connected).toBe(true);
    await store.close();
  });

  it.each(READS)('%s gives up after the call timeout', async (_name, call) => {
    await using silent = await SilentServer.start();
    const store = hazelcast({ clusterName: 'dev', members: [silent.address], clientConfig: SHORT_ATTEMPT }).open({
      callTimeout: 300,
    });
    const began = performance.now();
    await expect(call(store)).rejects.toThrow(StoreUnavailableError);
    expect(performance.now() - began).toBeGreaterThanOrEqual(295);
    const waiting = call(store);
    const closing = store.close();
    await expect(waiting).rejects.toThrow('is closed');
    await closing;
  });
});

/** Accepts connections and never answers. */
class SilentServer implements AsyncDisposable {
  readonly #sockets: Socket[] = [];
  readonly #server = createServer((socket) => void this.#sockets.push(socket)).listen(0, '127.0.0.1');

  static async start(): Promise<SilentServer> {
    const server = new SilentServer();
    await once(server.#server, 'listening');
    return server;
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Nothing reads from the connections, so that they would not notice the client's end. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server.close(), 'close');
  }
}
