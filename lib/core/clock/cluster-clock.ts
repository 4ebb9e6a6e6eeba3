import type { CancelTimer, NodeClock } from '../async/node-clock.js';
import { StoreUnavailableError } from '../store/store.errors.js';
import type { ClusterClockReport } from './clock-report.js';
import { MemberClocks, OLDEST_SAMPLE } from './member-clocks.js';
import { type ClockSource, ReadingRounds } from './reading-rounds.js';
import { Suspicion } from './suspicion.js';

export interface ClusterClockOptions {
  /** The largest difference of clocks in ms that is not suspect. */
  readonly tolerance: number;
  /** ms between samples. */
  readonly sampleInterval?: number;
  /**
   * Whether the clock is suspect right after the start. A new node has no history, so it can't see that a clock jumped.
   */
  readonly strictStart?: boolean;
  /** Called once each time the clock becomes suspect. */
  readonly onSuspect?: (reason: string) => void;
}

/** Largest difference in ms between the clock of a single member and this node's wall clock. */
const LONE_MEMBER_TOLERANCE = 10_000;
/** Reason of a node that has just started and does not trust any clock yet. Not a sign of a wrong clock. */
export const STRICT_START = 'strictStart: this node has just started';

/**
 * Cluster time: an interval between the lowest and the highest clock of the living members. The clocks are sampled at
 * the start and every 10 s; in between, this node's monotonic clock continues them:
 *
 *     earliest()                                   latest()
 *        |                                            |
 *     ---B-----------------A--------------------------C------> time of the members A, B and C, now
 *        |                                            |
 *     lowest clock:                                highest clock; a set-back clock keeps its former time for 30 s:
 *     a taker compares `expiresAt` with it         a holder's `expiresAt` is computed from it
 *
 * So a member with a wrong clock, ahead or behind, costs only waiting time. The protocol is safe if no taker's time is
 * ahead of the time that stamped the permit. That can't be proved. So this class looks for signs that clocks are wrong.
 * After each sign it is `suspect` for a while ({@link Suspicion}). Meanwhile takers use only their own observations
 * ({@link LeaseObservations}).
 *
 * | sign                                                                       | seen in              |
 * | -------------------------------------------------------------------------- | -------------------- |
 * | members' clocks differ by more than the tolerance                          | each round           |
 * | the only member's clock is 10 s off this node's wall clock                 | each round           |
 * | a member's clock moved against this node's by more than the tolerance      | each reading         |
 * | this node slept, its wall clock was set, or no member answered for 30 s    | the round after it   |
 * | a record's time stamp does not fit the time at which this node saw it      | `KnownRecord`        |
 */
export class ClusterClock {
  readonly #clocks = new MemberClocks();
  readonly #rounds: ReadingRounds;
  readonly #suspicion: Suspicion;
  /** This node's wall clock minus its monotonic clock at the last samples. */
  #wallAhead = 0;
  #cancelTimer?: CancelTimer;
  #sampling?: Promise<void>;

  constructor(
    source: ClockSource,
    private readonly node: NodeClock,
    private readonly options: ClusterClockOptions,
  ) {
    this.#suspicion = new Suspicion(node, options.onSuspect);
    this.#rounds = new ReadingRounds(source, node, this.#clocks, options.tolerance, (member, moved) =>
      this.suspect(`the clock of member ${member} moved by ${Math.round(moved)} ms against this node's`),
    );
  }

  /** Samples now, and then at regular intervals until {@link stop}. The next sample makes up for a failed one. */
  start(): void {
    if (this.options.strictStart) this.#suspicion.assume(STRICT_START);
    const again = () => {
      this.#cancelTimer = this.node.schedule(again, this.options.sampleInterval ?? 10_000);
      this.sample().catch(() => undefined);
    };
    again();
  }

  stop(): void {
    this.#cancelTimer?.();
  }

  /**
   * Reads the members' clocks. Concurrent calls share one round.
   *
   * @throws any error of a store that can't be asked
   * @throws StoreUnavailableError if all answers took too long to be useful
   */
  sample(): Promise<void> {
    this.#sampling ??= this.#readMembers().finally(() => (this.#sampling = undefined));
    return this.#sampling;
  }

  /** Whether a sample is young enough for decisions. */
  get isFresh(): boolean {
    // Every call asks this, so it reads each clock once.
    const at = this.node.monotonic();
    return this.#isSteadyAt(at) && this.#clocks.isAnyHeard(at, OLDEST_SAMPLE);
  }

  /** Monotonic ms at which the last successful round began. Its readings are younger than that. */
  get sampledAt(): number {
    return this.#rounds.sampledAt;
  }

  /** Lower bound of cluster time, in whole ms. It may go back. -Infinity before the first sample. */
  earliest(): number {
    const at = this.node.monotonic();
    const lowest = this.#clocks.lowest(at);
    return lowest === Infinity ? -Infinity : Math.floor(at + lowest);
  }

  /**
   * Upper bound of cluster time, in whole ms. If a clock was set back, its former time counts until every node must
   * have noticed. -Infinity before the first sample.
   *
   * @param at monotonic ms of now
   */
  latest(at = this.node.monotonic()): number {
    return Math.floor(at + this.#clocks.highest(at));
  }

  /** Whether a sign of wrong clocks is so recent that some node may not have sampled since. */
  get isSuspect(): boolean {
    return this.#suspicion.isActive;
  }

  /** Notes a sign of wrong clocks. `reason` is for people. */
  suspect(reason: string): void {
    this.#suspicion.raise(reason);
  }

  /**
   * Whether cluster time may decide when a lease is over. False for a while after a sign of wrong clocks. Also false
   * while a member's clock is unknown: if this node knew only a clock that is ahead, it would take over too early a
   * permit that was stamped by a clock that is behind.
   *
   * @param duration of the lease, in ms
   */
  mayJudge(duration: number): boolean {
    return !this.#rounds.unheard && this.#suspicion.isOverFor(duration);
  }

  /** Whether, right after the start, another round of readings may still reach members whose clocks are unknown. */
  get mayHearMore(): boolean {
    return this.#rounds.mayHearMore;
  }

  report(): ClusterClockReport {
    const at = this.node.monotonic();
    const samples = this.#clocks.samples(at);
    const lowest = samples.reduce((low, sample) => (sample.offset < low.offset ? sample : low), samples[0]!);
    const suspect = this.#suspicion.reason ?? (lowest && this.#rounds.unheard);
    const base = { spread: this.#clocks.spread(at), members: samples.length, ...(suspect && { suspect }) };
    if (!lowest) return base;
    return { ...base, offset: this.#offWall(lowest.offset), errorBound: lowest.roundTrip / 2 };
  }

  /** False if the machine slept or its wall clock was set since the samples. Then the samples are useless. */
  get #isSteady(): boolean {
    return this.#isSteadyAt(this.node.monotonic());
  }

  #isSteadyAt(at: number): boolean {
    return Math.abs(this.node.wall() - at - this.#wallAhead) <= this.options.tolerance;
  }

  async #readMembers(): Promise<void> {
    if (this.sampledAt > -Infinity && !this.isFresh) this.suspect(this.#whyStale());
    if (!this.#isSteady) this.#clocks.clear();
    this.#wallAhead = this.node.wall() - this.node.monotonic();
    // Even if a member did not answer, the readings of the others count.
    await this.#rounds.read().finally(() => this.#checkAgreement());
    if (this.isFresh) return;
    throw new StoreUnavailableError(
      `the store took longer than clockTolerance (${this.options.tolerance} ms) to return its time`,
    );
  }

  #whyStale(): string {
    return this.#isSteady
      ? `no member told its time for ${OLDEST_SAMPLE / 1000} s`
      : 'the clocks of this node moved apart: it slept, or its wall clock was set';
  }

  #checkAgreement(): void {
    const at = this.node.monotonic();
    const spread = this.#clocks.spread(at);
    if (spread > this.options.tolerance) {
      this.suspect(`the members' clocks are ${Math.round(spread)} ms apart: let NTP set them`);
    }
    const [lone, another] = this.#clocks.samples(at);
    if (!lone || another) return;
    const offset = this.#offWall(lone.offset);
    if (Math.abs(offset) > LONE_MEMBER_TOLERANCE) {
      this.suspect(`the only member's clock is ${offset} ms off this node's: let NTP set both`);
    }
  }

  /** Converts a member's offset from the monotonic clock into its offset from the wall clock, in whole ms. */
  #offWall(offset: number): number {
    return Math.round(offset + this.node.monotonic() - this.node.wall());
  }
}
