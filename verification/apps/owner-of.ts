import { Client } from 'hazelcast-client';

/** Prints the address of the member that owns a key: node owner-of.js <cluster> <members> <key> */
const [clusterName, members, key] = process.argv.slice(2);
const client = await Client.newHazelcastClient({
  clusterName: clusterName!,
  network: { clusterMembers: members!.split(',') },
  connectionStrategy: { connectionRetry: { clusterConnectTimeoutMillis: 5000 } },
  properties: { 'hazelcast.logging.level': 'OFF' },
});
const partitions = client.getPartitionService();
const owner = partitions.getPartitionOwner(partitions.getPartitionId(key));
const member = client
  .getCluster()
  .getMembers()
  .find(({ uuid }) => uuid.equals(owner));
process.stdout.write(member ? `${member.address.host}:${member.address.port}` : '');
await client.shutdown();
