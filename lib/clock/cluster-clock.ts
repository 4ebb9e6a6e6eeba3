import type { CancelTimer, NodeClock } from '../async/node-clock.js';
import { StoreUnavailableError } from '../stores/store.errors.js';
import { MemberClocks, OLDEST_SAMPLE } from './member-clocks.js';
import { type ClockSource, ReadingRounds } from './reading-rounds.js';
import { Suspicion } from './suspicion.js';

export interface ClusterClockOptions {
  /** ms that clocks may be apart before they are suspect. */
  readonly tolerance: number;
  /** ms between samples. */
  readonly sampleInterval?: number;
  /** Be suspect from the start: a node that has just started has no history to compare a clock that jumped with. */
  readonly strictStart?: boolean;
  /** Called once each time the clock becomes suspect. */
  readonly onSuspect?: (reason: string) => void;
}

/** The state of the cluster clock, for people and health checks. */
export interface ClusterClockReport {
  /** Cluster time minus this node's wall clock, in ms; undefined before the first sample. */
  readonly offset?: number;
  /** Half the round trip of the sample that counts: how far cluster time may be off, in ms. */
  readonly errorBound?: number;
  /** Between the highest and the lowest of the members' clocks, in ms. */
  readonly spread: number;
  readonly members: number;
  readonly suspect?: string;
}

/** With a single member its clock is also compared with this node's wall clock, within this many ms. */
const LONE_MEMBER_TOLERANCE = 10_000;
/** Reason of a node that has just started and trusts no clock yet; not a sign of a wrong clock. */
export const STRICT_START = 'strictStart: this node has just started';

/**
 * Cluster time, as the clocks of the living members bound it. Each is sampled at the start and every 10 s, and carried
 * on by this node's monotonic clock:
 *
 *     earliest()                                   latest()
 *        |                                            |
 *     ---B-----------------A--------------------------C------> time of the members A, B and C, now
 *        |                                            |
 *     lowest clock:                                highest clock, for 30 s also what it was before it was set back:
 *     a taker checks `expiresAt` by it             a holder's `expiresAt` is stamped by it
 *
 * So a member whose clock is wrong, either way, costs only waiting. Safety needs that no taker's clock is ahead of the
 * one that stamped. Nothing can prove that, so this clock looks for signs of the contrary, and after each is `suspect`
 * for a while ({@link Suspicion}): meanwhile takers use only their own observations ({@link LeaseObservations}).
 *
 * | sign                                                                       | seen in              |
 * | -------------------------------------------------------------------------- | -------------------- |
 * | members are more than the tolerance apart                                  | each round           |
 * | the only member is 10 s off this node's wall clock                         | each round           |
 * | a member's clock moved against this node's by more than the tolerance      | each reading         |
 * | this node slept, its wall clock was set, or no member was heard for 30 s   | the round after it   |
 * | a record was stamped at a time that does not fit when it was seen          | `KnownRecord`        |
 */
export class ClusterClock {
  readonly #clocks = new MemberClocks();
  readonly #rounds: ReadingRounds;
  readonly #suspicion: Suspicion;
  /** The node's wall clock minus its monotonic clock when the samples were taken. */
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

  /** Samples now and then regularly, until {@link stop}. A failed sample is made up for by the next. */
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
   * Reads the clocks of the members anew; calls that come meanwhile share the result.
   *
   * @throws whatever the store throws when it can't be asked
   * @throws StoreUnavailableError when all answers took too long to be useful
   */
  sample(): Promise<void> {
    this.#sampling ??= this.#readMembers().finally(() => (this.#sampling = undefined));
    return this.#sampling;
  }

  /** Whether a sample is young enough to decide by. */
  get isFresh(): boolean {
    return this.#isSteady && this.#clocks.isAnyHeard(this.node.monotonic(), OLDEST_SAMPLE);
  }

  /** Monotonic ms at which the last sample was begun that brought anything: what it shows is younger. */
  get sampledAt(): number {
    return this.#rounds.sampledAt;
  }

  /** The lowest that cluster time can be, in whole ms; may go back. -Infinity before the first sample. */
  earliest(): number {
    const at = this.node.monotonic();
    const lowest = this.#clocks.lowest(at);
    return lowest === Infinity ? -Infinity : Math.floor(at + lowest);
  }

  /**
   * The highest that cluster time can be, in whole ms. A clock that was set back counts as before until every node must
   * have noticed. -Infinity before the first sample.
   */
  latest(): number {
    const at = this.node.monotonic();
    return Math.floor(at + this.#clocks.highest(at));
  }

  /** Whether there was a sign that clocks can't be trusted, within the time in which every node samples anew. */
  get isSuspect(): boolean {
    return this.#suspicion.isActive;
  }

  /** Notes a sign that clocks can't be trusted; `reason` is for people. */
  suspect(reason: string): void {
    this.#suspicion.raise(reason);
  }

  /**
   * Whether cluster time may decide when a lease is over. Not while a member was not heard: a node that knows only one
   * that runs ahead would take over early what one that is behind has stamped. Nor for a while after a sign.
   *
   * @param duration of the lease, in ms
   */
  mayJudge(duration: number): boolean {
    return !this.#rounds.unheard && this.#suspicion.isOverFor(duration);
  }

  /** Whether right after the start another round of readings may hear the members whose silence keeps it from judging. */
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

  /** False if samples are useless: since then the machine slept, or the wall clock was set. */
  get #isSteady(): boolean {
    return Math.abs(this.node.wall() - this.node.monotonic() - this.#wallAhead) <= this.options.tolerance;
  }

  async #readMembers(): Promise<void> {
    if (this.sampledAt > -Infinity && !this.isFresh) this.suspect(this.#whyStale());
    if (!this.#isSteady) this.#clocks.clear();
    this.#wallAhead = this.node.wall() - this.node.monotonic();
    // Also when a member did not answer: the readings of the others count.
    await this.#rounds.read().finally(() => this.#checkAgreement());
    if (this.isFresh) return;
    throw new StoreUnavailableError(
      `the store took longer than clockTolerance (${this.options.tolerance} ms) to tell its time`,
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

  /** @param offset of a member's clock from the monotonic one. @returns from the wall clock, in whole ms */
  #offWall(offset: number): number {
    return Math.round(offset + this.node.monotonic() - this.node.wall());
  }
}
