import { hazelcast } from 'nestjs-gatekeeper';
import { type HazelcastCluster, startHazelcast } from '../../../lib/testing/index.js';
import { lackOfMembers } from '../../needs/members.js';
import { CP_CLUSTER } from './cp-cluster.js';
import { describeOperatorsContract } from './operators.contract.js';

const clusters: HazelcastCluster[] = [];
afterAll(() => Promise.all(clusters.map((cluster) => cluster.stop())));

for (const acquisition of ['optimistic', 'pessimistic'] as const) {
  const prepare = async () => {
    const cluster = await startHazelcast();
    clusters.push(cluster);
    const { clusterName, addresses: members } = cluster;
    return { store: hazelcast({ clusterName, members, acquisition }), stop: async () => undefined };
  };
  describeOperatorsContract(`hazelcast({ acquisition: '${acquisition}' })`, prepare, lackOfMembers);
}

describeOperatorsContract(
  'hazelcast({ cp: true })',
  async () => {
    const cluster = await startHazelcast(CP_CLUSTER);
    clusters.push(cluster);
    const { clusterName, addresses: members } = cluster;
    return { store: hazelcast({ clusterName, members, cp: true }), stop: async () => undefined };
  },
  lackOfMembers,
);
