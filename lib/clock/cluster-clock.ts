import type { ClockReading } from '../stores/store.js';
import { StoreUnavailableError } from '../stores/store.errors.js';
import { MemberClock, OLDEST_SAMPLE } from './member-clock.js';
import type { CancelTimer, NodeClock } from '../async/node-clock.js';

/** Whose clocks are read. */
export interface ClockSource {
  /** Successive readings come from different members. */
  now(): Promise<ClockReading>;
  /** How many members there are to be heard; 0 while nobody can tell. */
  members(): number;
}

export interface ClusterClockOptions {
  /** ms that clocks may be apart before they are suspect. */
  readonly tolerance: number;
  /** ms between samples. */
  readonly sampleInterval?: number;
  /** Be suspect from the start: a node that has just started has no history to hold against a clock that jumped. */
  readonly strictStart?: boolean;
  /** Called once each time the clock becomes suspect. */
  readonly onSuspect?: (reason: string) => void;
}

/** What the cluster clock knows of itself, for state and health. */
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

/** With a single member its clock is also held against this node's wall clock, within this many ms. */
const LONE_MEMBER_TOLERANCE = 10_000;
/** Why a node that has just started trusts no clock; no sign that one is wrong. */
export const STRICT_START = 'strictStart: this node has just started';
/** Readings of a round: not fewer while members may be unknown, and not more however many there are. */
const FEWEST_READINGS = 8;
const MOST_READINGS = 64;
/** Rounds after the start of which a call may wait for one: members that were not heard by then hang or are gone. */
const HASTY_ROUNDS = 5;

/**
 * Cluster time, which lies between {@link earliest} and {@link latest}: the lowest and the highest of the living
 * members' clocks, extrapolated by the monotonic clock. Whoever stamps an expiry goes by the latest, whoever checks it
 * by the earliest: a member whose clock is wrong, either way, costs only waiting.
 *
 * What safety needs is that no checker's clock is ahead of the stamper's. That can't be proved, so this one looks for
 * signs of the contrary and is `suspect` for a while after each; meanwhile takers go by their own observations alone
 * ({@link LeaseObservations}).
 */
export class ClusterClock {
  #members = new Map<string, MemberClock>();
  /** The node's wall clock minus its monotonic clock when the samples were taken. */
  #wallAhead = 0;
  #doubtedAt = -Infinity;
  #sampledAt = -Infinity;
  /** How many members there were by the last round of readings. */
  #expected = 0;
  /** Whether all readings of a first round came back. */
  #isComplete = false;
  /** Rounds of readings since the node knew nothing of the members' clocks. */
  #rounds = 0;
  #suspicion = '';
  #isTold = false;
  #cancelTimer?: CancelTimer;
  #sampling?: Promise<void>;

  constructor(
    private readonly source: ClockSource,
    private readonly node: NodeClock,
    private readonly options: ClusterClockOptions,
  ) {}

  /** Samples now and then regularly, until {@link stop}. A failed sample is made up for by the next. */
  start(): void {
    // Not a sign of anything: the first one is still to be told.
    if (this.options.strictStart) this.#markUncertain(STRICT_START);
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
   * @throws StoreUnavailableError when all answers took so long that they tell nothing
   */
  sample(): Promise<void> {
    this.#sampling ??= this.#readMembers().finally(() => (this.#sampling = undefined));
    return this.#sampling;
  }

  /** Whether a sample is young enough to decide by. */
  get isFresh(): boolean {
    if (!this.#isSteady) return false;
    const at = this.node.monotonic();
    for (const member of this.#members.values()) if (at - member.lastAt <= OLDEST_SAMPLE) return true;
    return false;
  }

  /** Monotonic ms at which the last sample was begun that brought anything: what it shows is younger. */
  get sampledAt(): number {
    return this.#sampledAt;
  }

  /** The lowest that cluster time can be, in whole ms; may go back. -Infinity before the first sample. */
  earliest(): number {
    const at = this.node.monotonic();
    let lowest = Infinity;
    for (const member of this.#living(at)) lowest = Math.min(lowest, member.best!.offset);
    return lowest === Infinity ? -Infinity : Math.floor(at + lowest);
  }

  /**
   * The highest that cluster time can be, in whole ms. A clock that was set back counts as before until every node must
   * have noticed. -Infinity before the first sample.
   */
  latest(): number {
    const at = this.node.monotonic();
    let highest = -Infinity;
    for (const member of this.#living(at)) highest = Math.max(highest, member.highest(at - OLDEST_SAMPLE));
    return Math.floor(at + highest);
  }

  /** Samples say nothing of now when the monotonic clock stood still since (the machine slept) or the wall clock was set. */
  get #isSteady(): boolean {
    return Math.abs(this.node.wall() - this.node.monotonic() - this.#wallAhead) <= this.options.tolerance;
  }

  /** Whether there was a sign that clocks can't be trusted, within the time in which every node samples anew. */
  get isSuspect(): boolean {
    return this.node.monotonic() < this.#doubtedAt + OLDEST_SAMPLE;
  }

  /**
   * Whether cluster time may decide when a lease is over. Not while a member was not heard: whoever knows only one that
   * runs ahead would take over early what was stamped by one that is behind. Nor after a sign, for as long as the lease
   * may have been stamped by a node that had not noticed: they all have sampled anew 30 s later, and its duration must
   * have passed.
   *
   * @param duration of the lease, in ms
   */
  mayJudge(duration: number): boolean {
    return !this.#unheard && this.node.monotonic() >= this.#doubtedAt + OLDEST_SAMPLE + 2 * duration;
  }

  /** Whether right after the start another round of readings may hear the members whose silence keeps it from judging. */
  get mayHearMore(): boolean {
    return this.#unheard !== undefined && this.#rounds < HASTY_ROUNDS;
  }

  /** Notes a sign that clocks can't be trusted; `reason` is for people. */
  suspect(reason: string): void {
    const isNew = !this.isSuspect || !this.#isTold;
    this.#markUncertain(reason);
    this.#isTold = true;
    if (isNew) this.options.onSuspect?.(reason);
  }

  #markUncertain(reason: string): void {
    this.#suspicion = reason;
    this.#doubtedAt = this.node.monotonic();
  }

  report(): ClusterClockReport {
    const living = this.#samples();
    const lowest = living.reduce((low, sample) => (sample.offset < low.offset ? sample : low), living[0]!);
    const suspect = this.isSuspect ? this.#suspicion : lowest && this.#unheard;
    const base = { spread: this.#spread(), members: living.length, ...(suspect && { suspect }) };
    if (!lowest) return base;
    return { ...base, offset: this.#offWall(lowest.offset), errorBound: lowest.roundTrip / 2 };
  }

  /** @param offset of a member's clock from the monotonic one. @returns from the wall clock, in whole ms */
  #offWall(offset: number): number {
    return Math.round(offset + this.node.monotonic() - this.node.wall());
  }

  /**
   * Says who may not have been heard; undefined when all were. The number alone doesn't tell: a member that has just left
   * or that holds no data may stand in for one that does not answer.
   */
  get #unheard(): string | undefined {
    if (this.#expected === 0) return 'nobody can tell which members there are';
    const heard = this.#members.size;
    if (heard < Math.min(MOST_READINGS / 2, this.#expected)) {
      return `only ${heard} of ${this.#expected} members told their time`;
    }
    return this.#isComplete ? undefined : 'no round of readings came back whole yet';
  }

  /** Each member twice, as other requests may have a turn in between. */
  #countReadings(): number {
    const known = Math.max(this.#members.size, this.source.members());
    return Math.min(MOST_READINGS, Math.max(this.#unheard ? FEWEST_READINGS : 2, 2 * known));
  }

  /** Successive readings come from different members: a few of them find all. */
  async #readMembers(): Promise<void> {
    const began = this.node.monotonic();
    if (this.#sampledAt > -Infinity && !this.isFresh) this.suspect(this.#whyStale());
    if (!this.#isSteady) this.#members.clear();
    this.#wallAhead = this.node.wall() - this.node.monotonic();
    if (this.#members.size === 0) [this.#isComplete, this.#rounds] = [false, 0];
    try {
      let counted = 0;
      const readings = this.#countReadings();
      for (let count = 0; count < readings; count++) if (await this.#readOne()) counted++;
      this.#isComplete ||= counted === readings;
    } finally {
      this.#rounds++;
      // Also when a member did not answer: what the others said counts.
      if ([...this.#members.values()].some(({ lastAt }) => lastAt >= began)) this.#sampledAt = began;
      this.#forgetDeparted();
      // One who has just lost the store can't tell, and is as sure of them as before.
      this.#expected = this.source.members() || this.#expected;
      this.#checkAgreement();
    }
    if (this.isFresh) return;
    throw new StoreUnavailableError(
      `the store took longer than clockTolerance (${this.options.tolerance} ms) to tell its time`,
    );
  }

  /** @returns whether it counts */
  async #readOne(): Promise<boolean> {
    const sent = this.node.monotonic();
    const { time, member } = await this.source.now();
    const at = this.node.monotonic();
    // It is off by up to half the time that it was under way, also when the process was frozen meanwhile. A stamp made
    // by it would let others take a permit over too early.
    if (at - sent > this.options.tolerance) return false;
    const clock = this.#members.get(member) ?? new MemberClock();
    this.#members.set(member, clock);
    const sample = { offset: time - (sent + at) / 2, roundTrip: at - sent, at };
    const moved = clock.add(sample, this.options.tolerance);
    if (moved > this.options.tolerance) {
      this.suspect(`the clock of member ${member} moved by ${Math.round(moved)} ms against this node's`);
    }
    return true;
  }

  #forgetDeparted(): void {
    const at = this.node.monotonic();
    for (const [name, member] of this.#members) {
      if (at - member.lastAt > OLDEST_SAMPLE) this.#members.delete(name);
    }
  }

  #checkAgreement(): void {
    const spread = this.#spread();
    if (spread > this.options.tolerance) {
      this.suspect(`the members' clocks are ${Math.round(spread)} ms apart: let NTP set them`);
    }
    const [lone, another] = this.#samples();
    if (!lone || another) return;
    const offset = this.#offWall(lone.offset);
    if (Math.abs(offset) > LONE_MEMBER_TOLERANCE) {
      this.suspect(`the only member's clock is ${offset} ms off this node's: let NTP set both`);
    }
  }

  #whyStale(): string {
    return this.#isSteady
      ? `no member told its time for ${OLDEST_SAMPLE / 1000} s`
      : 'the clocks of this node moved apart: it slept, or its wall clock was set';
  }

  #spread(): number {
    const offsets = this.#samples().map((sample) => sample.offset);
    return offsets.length > 1 ? Math.max(...offsets) - Math.min(...offsets) : 0;
  }

  #samples() {
    return this.#living(this.node.monotonic()).map((member) => member.best!);
  }

  /** While none is heard of, the last ones that were. */
  #living(at: number): MemberClock[] {
    const members = [...this.#members.values()];
    const living = members.filter((member) => at - member.lastAt <= OLDEST_SAMPLE);
    return living.length > 0 ? living : members;
  }
}
