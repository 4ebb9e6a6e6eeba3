import { jvmArguments } from '../../lib/testing/hazelcast/jvm-arguments.js';
import { majorityConfig } from '../../lib/testing/hazelcast/package-files.js';

const member = (port: number) => ({ address: '127.0.0.1', port, heap: '256m', jvmArgs: ['-Dlast=1'], command: [] });
const cluster = { clusterName: 'blue', jar: '/cache/hazelcast.jar', config: '/shipped.yaml' };
const argumentsWith = (settings: { minimumClusterSize?: number } = {}) =>
  jvmArguments({ ...cluster, ...settings }, member(5702), [member(5701), member(5702)]);

describe('the arguments of a member', () => {
  it('tell it its name, its place and whom to look for', () => {
    expect(argumentsWith()).toEqual(
      expect.arrayContaining([
        '-Xmx256m',
        '-Dhazelcast.config=/shipped.yaml',
        '-Dhz.cluster-name=blue',
        '-Dhz.network.port.port=5702',
        '-Dhz.network.join.tcp-ip.members=127.0.0.1:5701,127.0.0.1:5702',
        '-Dhazelcast.local.localAddress=127.0.0.1',
      ]),
    );
  });

  it('have the member compile fast rather than well, unless the caller says otherwise', () => {
    const own = { ...member(5701), jvmArgs: ['-XX:TieredStopAtLevel=4'] };
    const levels = jvmArguments(cluster, own, [own]).filter((argument) => argument.includes('TieredStopAtLevel'));
    expect(levels).toEqual(['-XX:TieredStopAtLevel=1', '-XX:TieredStopAtLevel=4']);
  });

  it("end with the caller's own ones and the jar, so that the caller's win", () => {
    expect(argumentsWith().slice(-3)).toEqual(['-Dlast=1', '-jar', '/cache/hazelcast.jar']);
  });

  it.each([
    { minimumClusterSize: undefined, configuration: ['-Dhazelcast.config=/shipped.yaml'] },
    {
      minimumClusterSize: 1,
      configuration: ['-Dhazelcast.config=/shipped.yaml', '-Dhz.split-brain-protection.gatekeeper.enabled=false'],
    },
    {
      minimumClusterSize: 2,
      configuration: [
        `-Dhazelcast.config=${majorityConfig()}`,
        '-Dgatekeeper.config=file:///shipped.yaml',
        '-Dgatekeeper.minimum-cluster-size=2',
      ],
    },
  ])('say that the minimum is $minimumClusterSize', ({ minimumClusterSize, configuration }) => {
    const set = argumentsWith({ ...(minimumClusterSize && { minimumClusterSize }) });
    expect(set.filter((argument) => /config=|minimum|protection/.test(argument))).toEqual(configuration);
  });
});
