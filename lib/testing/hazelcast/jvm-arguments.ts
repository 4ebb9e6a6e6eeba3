import { pathToFileURL } from 'node:url';
import { hostAndPort, type MemberSettings } from './member-settings.js';
import { majorityConfig } from './package-files.js';

/** Settings of every member of a cluster. */
export interface ClusterSettings {
  readonly clusterName: string;
  readonly jar: string;
  readonly config: string;
  readonly minimumClusterSize?: number | undefined;
}

/** Makes one line per log record instead of Java's two. A message with line breaks keeps them. */
const LOG_FORMAT = '%1$tT.%1$tL %4$s %3$s: %5$s%6$s%n';

/**
 * Java's arguments for one member. `hz.` properties override the configuration file (Hazelcast manual, "Overriding
 * Configuration").
 *
 * @param list the member list: all members, including this one.
 */
export function jvmArguments(
  cluster: ClusterSettings,
  member: MemberSettings,
  list: readonly MemberSettings[],
): string[] {
  return [
    `-Xmx${member.heap}`,
    `-Djava.util.logging.SimpleFormatter.format=${LOG_FORMAT}`,
    ...configuration(cluster),
    `-Dhz.cluster-name=${cluster.clusterName}`,
    `-Dhz.network.port.port=${member.port}`,
    '-Dhz.network.port.auto-increment=false',
    `-Dhz.network.join.tcp-ip.members=${list.map(hostAndPort).join(',')}`,
    `-Dhazelcast.local.localAddress=${member.address}`,
    '-Dhazelcast.socket.bind.any=false',
    // By default a master waits 5 s for more members before it accepts the first. Here the launcher controls the order.
    '-Dhazelcast.wait.seconds.before.join=0',
    '-Dhazelcast.phone.home.enabled=false',
    // A test's member lives for seconds. Java's second compiler would double the start-up time for no gain.
    '-XX:TieredStopAtLevel=1',
    ...member.jvmArgs,
    '-jar',
    cluster.jar,
  ];
}

/** Hazelcast refuses a minimum below 2, so 1 turns the protection off. */
function configuration({ config, minimumClusterSize: minimum }: ClusterSettings): string[] {
  if (minimum === undefined) return [`-Dhazelcast.config=${config}`];
  if (minimum < 2) return [`-Dhazelcast.config=${config}`, '-Dhz.split-brain-protection.gatekeeper.enabled=false'];
  return [
    `-Dhazelcast.config=${majorityConfig()}`,
    `-Dgatekeeper.config=${pathToFileURL(config)}`,
    `-Dgatekeeper.minimum-cluster-size=${minimum}`,
  ];
}
