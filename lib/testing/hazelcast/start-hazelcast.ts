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
 * and always end with this process. Needs Java 17 or newer and, the first time, Maven. Works on Linux and macOS.
 * Windows is not supported, because members are frozen, killed and supervised with POSIX signals and a POSIX shell.
 *
 * If `HAZELCAST_MEMBERS=host:port,...` is set (and `HAZELCAST_CLUSTER`, default `dev`), and no options but `members` (a
 * number), `startTimeout` and `onLog` are given, nothing is started. Then the result is that cluster. Its members are
 * those that the variable names, and can't be killed, paused or started. `HAZELCAST_VERSION` is the default of the option
 * `version`.
 *
 * ```ts
 * await using cluster = await startHazelcast({ members: 3, minimumClusterSize: 2 });
 * const store = hazelcast({ clusterName: cluster.clusterName, members: cluster.addresses });
 * await cluster.members[0].kill();
 * ```
 *
 * @param options number of members, and differences from the defaults.
 * @returns the cluster, as soon as every member sees all the others: after about 2 s for one member, 5 s for three.
 * @throws {HazelcastLauncherError} if an option is wrong, a member ends while it starts (the message has its last log
 *   lines), or the members do not form one cluster within `startTimeout` ms. No process is left then.
 * @throws {MissingToolError} (a HazelcastLauncherError) if Java or Maven is missing, or Java is too old.
 */
export async function startHazelcast(options: HazelcastOptions = {}): Promise<HazelcastCluster> {
  const checked = checkOptions(options);
  return foreignCluster(checked) ?? launch(checked);
}

async function launch(options: HazelcastOptions): Promise<HazelcastCluster> {
  const {
    version = process.env['HAZELCAST_VERSION'] || pinnedVersion(),
    clusterName = uniqueClusterName(),
    minimumClusterSize,
  } = options;
  const config = options.config === undefined ? shippedConfig() : resolve(options.config);
  const java = await findJava(version);
  const jar = await fetchHazelcast(version);
  const cluster = new LaunchedCluster(java, { clusterName, jar, config, minimumClusterSize }, options);
  await cluster.start(wantedMembers(options.members));
  return cluster;
}
