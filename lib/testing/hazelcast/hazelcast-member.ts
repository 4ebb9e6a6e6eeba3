/** One member of a cluster, as tests control it. Every method throws for a member that was not started here. */
export interface HazelcastMember {
  /** Its index in `cluster.members`. */
  readonly index: number;
  /** `host:port`. */
  readonly address: string;
  /** Java's process id; undefined while the member does not run, and for a member that was not started here. */
  readonly pid: number | undefined;
  /** Whether its process exists, running or paused. */
  readonly running: boolean;

  /**
   * Kills it without a clean shutdown, like a crash.
   *
   * @param signal default `SIGKILL`.
   * @returns as soon as the process has ended; at once if it does not run.
   */
  kill(signal?: NodeJS.Signals): Promise<void>;

  /**
   * Freezes it (SIGSTOP): its connections stay open, but it does not answer. The other members drop it after
   * `hazelcast.max.no.heartbeat.seconds`, which is 10 s in the shipped configuration.
   *
   * @returns as soon as all its threads have stopped (on Linux; elsewhere at once): it answers no later request.
   * @throws {HazelcastLauncherError} if it does not run, or does not stop within 5 s.
   */
  pause(): Promise<void>;

  /**
   * Resumes a frozen member (SIGCONT). It does not wait until the member is back in the cluster.
   *
   * @throws {HazelcastLauncherError} if it does not run.
   */
  resume(): void;

  /**
   * Shuts it down cleanly (SIGTERM), so that it hands its data over. Resumes a paused member for this.
   *
   * @returns as soon as the process has ended; at once if it does not run.
   */
  stop(): Promise<void>;

  /**
   * Starts it again on the same address, empty.
   *
   * @returns as soon as it and all other running members, except paused ones, form one cluster.
   * @throws {HazelcastLauncherError} if it runs, ends while it starts, or takes longer than `startTimeout`.
   */
  start(): Promise<void>;
}
