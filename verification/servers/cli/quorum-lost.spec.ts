import { type StoreDefinition, hazelcast } from 'nestjs-gatekeeper';
import { type HazelcastCluster, startHazelcast } from 'nestjs-gatekeeper/testing';
import { openOperator } from '../../../lib/cli/session/open-operator.js';
import { TOKENS, useConsoles } from '../../../test/console/consoles.js';
import { eventually } from '../../../test/contract/eventually.js';
import { UNHURRIED } from '../../../test/contract/unhurried.js';
import { describeOnHazelcast } from '../../needs/members.js';
import { call, commandLine } from '../../../test/cli/command-line.js';

const VERBS = [
  'status',
  'explain report',
  'history',
  'audit',
  'maintenance list',
  'nodes',
  'dump',
  'pause report --yes',
];

describeOnHazelcast('the command line, after a cluster of two members lost the split-brain quorum of both', () => {
  const start = useConsoles();
  let cluster: HazelcastCluster;
  let store: StoreDefinition;

  beforeAll(async () => {
    cluster = await startHazelcast({ members: 2, minimumClusterSize: 2 });
    store = hazelcast({ clusterName: cluster.clusterName, members: cluster.addresses });
  });
  afterAll(() => cluster?.stop());

  it('ends with 6 and says why, over HTTP and directly, and shows nothing empty as the truth', async () => {
    const definitions = [{ name: 'report', duration: '90s' }];
    const { url, gatekeeper } = await start({ store, gatekeeper: { ...UNHURRIED, definitions } });
    const direct = commandLine(store);
    const http: typeof direct = (args) =>
      call([...args, '--url', url, '--token', TOKENS.define], { open: openOperator });
    await eventually('it is defined', async () => (await gatekeeper.definitions.get('report')) !== undefined);
    expect((await direct(['status'])).out).toContain('report');
    await cluster.members[1]!.kill();
    await eventually('the quorum is lost', () => !gatekeeper.health().grants);
    for (const line of [http, direct]) {
      for (const verb of VERBS) {
        const { exitCode, out, err } = await line(verb.split(' '));
        const isTold = /nothing is granted/i.test(out) || (out === '' && /split-brain protection|quorum/.test(err));
        const isHttp = line === http;
        expect({ verb, isHttp, exitCode, told: isTold || { out, err } }).toEqual({
          verb,
          isHttp,
          exitCode: 6,
          told: true,
        });
      }
    }
  });
});
