import type { HazelcastMember } from './hazelcast-member.js';
import type { HazelcastMemberOptions } from './hazelcast.options.js';

/** A cluster of real members. `await using cluster = await startHazelcast()` stops it at the end of the block. */
export interface HazelcastCluster extends AsyncDisposable {
  /** The cluster's name, which clients need to connect. */
  readonly clusterName: string;
  /** `host:port` of every member, running or not. */
  readonly addresses: string[];
  /** Every member, running or not. */
  readonly members: readonly HazelcastMember[];

  /**
   * Starts one more member.
   *
   * @param options options of this member. Those that are absent come from the options of the cluster.
   * @returns the member, as soon as it and all other running members form one cluster.
   * @throws {HazelcastLauncherError} if it ends while it starts, takes longer than `startTimeout`, or the cluster was
   *   not started here. No process of the member is left then.
   */
  addMember(options?: HazelcastMemberOptions): Promise<HazelcastMember>;

  /**
   * Kills all members, paused ones too. Their data are lost. Does nothing to a cluster that was not started here.
   *
   * @returns as soon as every process has ended.
   */
  stop(): Promise<void>;
}
