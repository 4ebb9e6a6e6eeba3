import { Client, type ClientConfig } from 'hazelcast-client';
import type { HazelcastCluster } from '../../../lib/testing/index.js';

/** A client as an application would make it to share it with Gatekeeper. */
export function newClient(cluster: HazelcastCluster, config: ClientConfig = {}): Promise<Client> {
  return Client.newHazelcastClient({
    clusterName: cluster.clusterName,
    network: { clusterMembers: cluster.addresses },
    flakeIdGenerators: { 'gatekeeper.clock*': { prefetchCount: 1 } },
    ...config,
    properties: { 'hazelcast.logging.level': 'OFF', ...config.properties },
  });
}
