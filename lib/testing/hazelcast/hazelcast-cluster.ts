import type { HazelcastMember } from './hazelcast-member.js';
import type { HazelcastMemberOptions } from './hazelcast.options.js';

/** A running cluster of real members. `await using cluster = await startHazelcast()` stops it at the end of the block. */
export interface HazelcastCluster extends AsyncDisposable {
  /** The name that clients must give to connect. */
  readonly clusterName: string;
  /** `host:port` of every member, running or not. */
  readonly addresses: string[];
  /** Every member, running or not. */
  readonly members: readonly HazelcastMember[];

  /**
   * Starts one more member.
   *
   * @param options differences from the options of the cluster.
   * @returns the member, when it and all others that run form one cluster.
   * @throws {HazelcastLauncherError} if it ends while it starts, takes longer than `startTimeout`, or the cluster was
   *   not started here. Then nothing of the member is left.
   */
  addMember(options?: HazelcastMemberOptions): Promise<HazelcastMember>;

  /**
   * Ends all members at once, paused ones too, and with them the data. Does nothing to a cluster that was not started
   * here.
   *
   * @returns when every process is gone.
   */
  stop(): Promise<void>;
}
