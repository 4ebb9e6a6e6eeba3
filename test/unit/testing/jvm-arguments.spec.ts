import { describe, expect, it } from '@jest/globals';
import { jvmArguments } from '../../../lib/testing/hazelcast/jvm-arguments.js';

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

  it("end with the caller's own ones and the jar, so that the caller's win", () => {
    expect(argumentsWith().slice(-3)).toEqual(['-Dlast=1', '-jar', '/cache/hazelcast.jar']);
  });

  it.each([
    { minimumClusterSize: undefined, protection: [] },
    { minimumClusterSize: 1, protection: ['enabled=false'] },
    { minimumClusterSize: 2, protection: ['enabled=true', 'minimum-cluster-size=2'] },
  ])('set split-brain protection to $protection for a minimum of $minimumClusterSize', (row) => {
    const prefix = '-Dhz.split-brain-protection.gatekeeper.';
    const set = argumentsWith({ ...(row.minimumClusterSize && { minimumClusterSize: row.minimumClusterSize }) });
    const protection = set.filter((argument) => argument.startsWith(prefix));
    expect(protection).toEqual(row.protection.map((property) => prefix + property));
  });
});
