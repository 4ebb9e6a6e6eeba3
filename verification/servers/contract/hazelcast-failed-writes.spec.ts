import { randomUUID } from 'node:crypto';
import type { Client } from 'hazelcast-client';
import { hazelcast } from '../../../lib/stores/hazelcast/index.js';
import type { Driver } from '../../../lib/core/store/index.js';
import { type HazelcastCluster, startHazelcast } from '../../../lib/testing/index.js';
import { eventually } from '../../../test/contract/eventually.js';
import { newClient } from './hazelcast-clients.js';
import { describeOnHazelcast } from '../../needs/members.js';

/** The internals of the client that the test uses. */
interface Connection {
  readonly socket: { _write: (...args: unknown[]) => void; _writev?: unknown };
  isAlive(): boolean;
  close(reason: string): void;
}
interface Inside {
  readonly clusterViewListenerService: { readonly listenerAddedConnection: Connection };
  getConnectionManager(): { getConnectionRegistry(): { getConnections(): Connection[] } };
  getInvocationService(): { send(...args: unknown[]): Promise<void> };
}

/** More than any healthy client sends here. */
const MOST_SENT = 2000;

const insideOf = (client: Client) => client as unknown as Inside;
const connectionsOf = (client: Client) =>
  insideOf(client).getConnectionManager().getConnectionRegistry().getConnections();

/** Counts what a client sends. Without an answer an endless loop of attempts ends, instead of the whole test run. */
function countSent(client: Client): () => number {
  const service = insideOf(client).getInvocationService();
  const send = service.send.bind(service);
  let sent = 0;
  service.send = (...args) => (++sent > MOST_SENT ? new Promise(() => undefined) : send(...args));
  return () => sent;
}

describeOnHazelcast('A write that fails', () => {
  let cluster: HazelcastCluster;
  let client: Client;
  let store: Driver;

  beforeAll(async () => {
    cluster = await startHazelcast({ members: 2 });
  });
  afterAll(() => cluster?.stop());

  beforeEach(async () => {
    client = await newClient(cluster);
    store = hazelcast({ client }).open();
    const isWhole = () => store.health().connected && connectionsOf(client).length === 2;
    await eventually('both members are connected', isWhole);
  });
  afterEach(async () => {
    await store.close();
    await client.shutdown();
  });

  /** Lets the writes of one connection fail, until one has. The other one brings the list of members. */
  async function failOne(): Promise<{ readonly failed: Connection; readonly other: Connection }> {
    const other = insideOf(client).clusterViewListenerService.listenerAddedConnection;
    const failed = connectionsOf(client).find((each) => each !== other)!;
    let isFailed = false;
    failed.socket._writev = undefined;
    failed.socket._write = (_chunk, _encoding, done) => {
      isFailed = true;
      (done as (error: Error) => void)(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    };
    const map = await client.getMap(randomUUID());
    await eventually('a write has failed', async () => {
      await map.get(randomUUID());
      return isFailed;
    });
    return { failed, other };
  }

  it('closes its connection, and the client makes another one', async () => {
    const { failed } = await failOne();
    await eventually('the connection is closed', () => !failed.isAlive());
    await eventually('there are two again', () => connectionsOf(client).length === 2);
    expect(connectionsOf(client)).not.toContain(failed);
  });

  it('does not stop the event loop when the other connection is lost', async () => {
    const sent = countSent(client);
    const { other } = await failOne();
    other.close('the test');
    await eventually('both members are connected', () => connectionsOf(client).length === 2);
    expect(sent()).toBeLessThan(MOST_SENT);
  });
});
