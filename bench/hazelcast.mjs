import { Client } from 'hazelcast-client';
import { startHazelcast } from 'nestjs-gatekeeper/testing';
import { FULLY_COMPILED } from './measure.mjs';

/** With one member, and one client for both sides: the same connection, the same settings. */
export async function onHazelcast(measured) {
  const cluster = await startHazelcast({ jvmArgs: FULLY_COMPILED });
  const client = await Client.newHazelcastClient({
    clusterName: cluster.clusterName,
    network: { clusterMembers: cluster.addresses },
    flakeIdGenerators: { 'gatekeeper.clock': { prefetchCount: 1 } },
    properties: { 'hazelcast.logging.level': 'OFF' },
  });
  try {
    return await measured(client, cluster);
  } finally {
    await client.shutdown();
    await cluster.stop();
  }
}
