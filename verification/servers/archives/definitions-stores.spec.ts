import { randomUUID } from 'node:crypto';
import { hazelcast } from 'nestjs-gatekeeper';
import { redis } from 'nestjs-gatekeeper/redis';
import { type HazelcastCluster, startHazelcast } from 'nestjs-gatekeeper/testing';
import { describeArchiveContract } from '../../../test/operate/definitions/archive/archive.contract.js';
import { describeUnless } from '../../../test/support/unless.js';
import { describeOnHazelcast } from '../../needs/members.js';
import { lackOfRedis } from '../../needs/redis.js';
import { RedisServer } from '../../support/redis-server.js';
import { useShared } from '../../support/shared.js';

describeUnless(lackOfRedis)('On Redis', () => {
  const server = useShared(() => RedisServer.start());

  describeArchiveContract('redis({ url })', async () =>
    redis({ url: `redis://127.0.0.1:${(await server()).port}`, prefix: randomUUID() }),
  );
});

describeOnHazelcast('On Hazelcast', () => {
  let cluster: HazelcastCluster;
  beforeAll(async () => {
    cluster = await startHazelcast({ clusterName: 'archives' });
  });
  afterAll(() => cluster?.stop());

  describeArchiveContract('hazelcast()', async () => {
    const { clusterName, addresses: members } = cluster;
    return hazelcast({ clusterName, members, mapName: `archive-${randomUUID()}` });
  });
});
