import { randomUUID } from 'node:crypto';
import type { Client } from 'hazelcast-client';
import { hazelcast } from '../../../lib/stores/hazelcast/index.js';
import { type HazelcastCluster, startHazelcast } from '../../../lib/testing/index.js';
import { eventually } from '../../../test/contract/eventually.js';
import { newClient } from './hazelcast-clients.js';
import { describeOnHazelcast } from '../../needs/members.js';

/** The internals of the client that the test uses. */
interface Connection {
  readonly writer: { canWrite: boolean };
  close(reason: string): void;
}
interface Inside {
  getConnectionManager(): { getConnectionRegistry(): { getConnections(): Connection[] } };
}

const connectionsOf = (client: Client) =>
  (client as unknown as Inside).getConnectionManager().getConnectionRegistry().getConnections();

describeOnHazelcast('A call that was not sent when its connection closed', () => {
  let cluster: HazelcastCluster;
  beforeAll(async () => {
    cluster = await startHazelcast();
  });
  afterAll(() => cluster?.stop());

  it.each(['there when the store opened', 'made since'])('is sent over the next one (%s)', async (which) => {
    const client = await newClient(cluster, { connectionStrategy: { connectionRetry: { initialBackoffMillis: 10 } } });
    const store = hazelcast({ client }).open();
    try {
      const isConnected = () => store.health().connected && connectionsOf(client).length === 1;
      await eventually('the store is connected', isConnected);
      const [first] = connectionsOf(client);
      if (which === 'made since') first!.close('the test');
      await eventually(
        'there is a connection',
        () => isConnected() && (which !== 'made since' || connectionsOf(client)[0] !== first),
      );

      const [connection] = connectionsOf(client);
      const map = await client.getMap(randomUUID());
      // As a socket does that has not yet taken what was sent before.
      connection!.writer.canWrite = false;
      const asked = map.get('key');
      connection!.close('the test');
      expect(await asked).toBeNull();
    } finally {
      await store.close();
      await client.shutdown();
    }
  });
});
