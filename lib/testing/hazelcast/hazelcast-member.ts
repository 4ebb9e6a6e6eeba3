/** One member of a cluster, and what a test may do to it. Every method throws for a member that was not started here. */
export interface HazelcastMember {
  /** Its place in `cluster.members`, counted from 0. */
  readonly index: number;
  /** `host:port`. */
  readonly address: string;
  /** Java's process id; undefined while it does not run, and for a member that was not started here. */
  readonly pid: number | undefined;
  /** Whether its process is there, be it paused. */
  readonly running: boolean;

  /**
   * Ends it without a farewell, as a crash would.
   *
   * @param signal default `SIGKILL`.
   * @returns when the process is gone; at once if it does not run.
   */
  kill(signal?: NodeJS.Signals): Promise<void>;

  /**
   * Freezes it (SIGSTOP): its connections stay open and nothing answers. The others drop it after
   * `hazelcast.max.no.heartbeat.seconds`, 10 s as shipped.
   *
   * @throws {HazelcastLauncherError} if it does not run.
   */
  pause(): void;

  /**
   * Lets a frozen member go on (SIGCONT). It does not wait until the member is back in the cluster.
   *
   * @throws {HazelcastLauncherError} if it does not run.
   */
  resume(): void;

  /**
   * Asks it to leave in good order (SIGTERM), which hands its data over; a paused one is resumed for that.
   *
   * @returns when the process is gone; at once if it does not run.
   */
  stop(): Promise<void>;

  /**
   * Starts it again on the same address, empty.
   *
   * @returns when it and all others that run (paused ones aside) form one cluster.
   * @throws {HazelcastLauncherError} if it runs, ends while it starts, or takes longer than `startTimeout`.
   */
  start(): Promise<void>;
}
