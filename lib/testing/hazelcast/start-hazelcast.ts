import { resolve } from 'node:path';
import { foreignCluster } from './foreign-cluster.js';
import type { HazelcastCluster } from './hazelcast-cluster.js';
import { fetchHazelcast } from './hazelcast-jar.js';
import { checkOptions, type HazelcastOptions } from './hazelcast.options.js';
import { findJava } from './java.js';
import { LaunchedCluster } from './launched-cluster.js';
import { uniqueClusterName, wantedMembers } from './member-settings.js';
import { pinnedVersion, shippedConfig } from './package-files.js';

/**
 * Starts real Hazelcast members on this machine, for tests. They run with the hazelcast.yaml that this package ships,
 * and always end with this process. Needs Java 17 or newer and, the first time, Maven. Linux and macOS;
 * Windows is not supported (members are frozen, killed and supervised with POSIX signals and a POSIX shell).
 *
 * If `HAZELCAST_MEMBERS=host:port,...` is set (and `HAZELCAST_CLUSTER`, default `dev`), and no options but `members`
 * (a number), `startTimeout` and `onLog` are given, nothing is started. The result is that cluster. Its members are those that
 * the variable names, and can't be killed, paused or started.
 *
 * ```ts
 * await using cluster = await startHazelcast({ members: 3, minimumClusterSize: 2 });
 * const store = hazelcast({ clusterName: cluster.clusterName, members: cluster.addresses });
 * await cluster.members[0].kill();
 * ```
 *
 * @param options how many members, and how they differ from the defaults.
 * @returns the cluster, when every member is up and sees all the others. About 2 s for one, 5 s for three.
 * @throws {HazelcastLauncherError} if an option is wrong, Java or Maven is missing, a member ends while it starts (the
 *   message holds its last log lines), or the cluster is not whole after `startTimeout` ms. No process is left then.
 */
export async function startHazelcast(options: HazelcastOptions = {}): Promise<HazelcastCluster> {
  const checked = checkOptions(options);
  return foreignCluster(checked) ?? launch(checked);
}

async function launch(options: HazelcastOptions): Promise<HazelcastCluster> {
  const { version = pinnedVersion(), clusterName = uniqueClusterName(), minimumClusterSize } = options;
  const config = options.config === undefined ? shippedConfig() : resolve(options.config);
  const java = await findJava(version);
  const jar = await fetchHazelcast(version);
  const cluster = new LaunchedCluster(java, { clusterName, jar, config, minimumClusterSize }, options);
  await cluster.start(wantedMembers(options.members));
  return cluster;
}
