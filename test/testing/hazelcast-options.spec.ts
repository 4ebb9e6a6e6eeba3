import { foreignCluster } from '../../lib/testing/hazelcast/foreign-cluster.js';
import { checkOptions } from '../../lib/testing/hazelcast/hazelcast.options.js';
import { settleMember, wantedMembers } from '../../lib/testing/hazelcast/member-settings.js';
import { HazelcastLauncherError } from '../../lib/testing/index.js';

describe('options of startHazelcast', () => {
  it('name every fault in one error', () => {
    const wrong = { members: 0, heap: 'much', address: 'localhost', speed: 'fast' };
    expect(() => checkOptions(wrong)).toThrow(/address: .*heap: must be a number with k, m or g.*members: .*"speed"/);
    expect(() => checkOptions(wrong)).toThrow(HazelcastLauncherError);
  });

  it('of a member come before those of the cluster, and arguments of Java add up', async () => {
    const cluster = { basePort: 5701, heap: '1g', jvmArgs: ['-Da=1'], command: ['nice'] };
    const own = { address: '10.0.0.2', jvmArgs: ['-Da=2'], command: [] };
    expect(await settleMember(2, own, cluster, [])).toEqual({
      address: '10.0.0.2',
      port: 5703,
      heap: '1g',
      jvmArgs: ['-Da=1', '-Da=2'],
      command: [],
    });
  });

  it('may count the members, describe each, or say nothing', () => {
    expect(wantedMembers(2)).toEqual([{}, {}]);
    expect(wantedMembers([{ port: 1 }])).toEqual([{ port: 1 }]);
    expect(wantedMembers()).toEqual([{}]);
  });

  it('want a basePort where no port can be tried out', async () => {
    await expect(settleMember(0, { address: '192.0.2.1' }, {}, [])).rejects.toThrow(/192\.0\.2\.1.*Set basePort/);
  });
});

describe('a cluster named by HAZELCAST_MEMBERS', () => {
  const env = { HAZELCAST_MEMBERS: 'a:5701, b:5701', HAZELCAST_CLUSTER: 'shared' };

  it('is used when nothing is asked that only own members can give', () => {
    const cluster = foreignCluster({ members: 2, startTimeout: 5 }, env);
    expect(cluster).toMatchObject({ clusterName: 'shared', addresses: ['a:5701', 'b:5701'] });
  });

  it.each([{ clusterName: 'mine' }, { minimumClusterSize: 2 }, { members: [{}] }, { command: ['nice'] }])(
    'is left alone when the options are %j',
    (options) => expect(foreignCluster(options, env)).toBeUndefined(),
  );

  it('is not there when the variable is empty', () => {
    expect(foreignCluster({}, { HAZELCAST_MEMBERS: '' })).toBeUndefined();
  });

  it('is called "dev" by default', () => {
    expect(foreignCluster({}, { HAZELCAST_MEMBERS: 'a:1' })?.clusterName).toBe('dev');
  });

  it('refuses faults, and is not stopped', async () => {
    const cluster = foreignCluster({}, env)!;
    await expect(cluster.members[0]!.kill()).rejects.toThrow(/kill is not possible.*a:5701.*HAZELCAST_MEMBERS/);
    await expect(cluster.members[0]!.pause()).rejects.toThrow(HazelcastLauncherError);
    await expect(cluster.addMember()).rejects.toThrow(HazelcastLauncherError);
    await expect(cluster.stop()).resolves.toBeUndefined();
  });
});
