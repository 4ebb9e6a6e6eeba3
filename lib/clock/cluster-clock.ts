import type { ClockReading } from '../stores/store.js';
import { StoreUnavailableError } from '../stores/store.errors.js';
import { MemberClock } from './member-clock.js';
import type { CancelTimer, NodeClock } from './node-clock.js';

export interface ClusterClockOptions {
  /** ms that clocks may be apart before they are suspect. */
  readonly tolerance: number;
  /** ms between samples. */
  readonly sampleInterval?: number;
  /** The longest duration of any permit now known, in ms: suspicion lasts twice as long. */
  readonly longestDuration: () => number;
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

/** A sample older than this (ms) decides nothing, and a member not heard of for so long no longer counts. */
export const OLDEST_SAMPLE = 30_000;
/** With a single member its clock is also held against this node's wall clock, within this many ms. */
const LONE_MEMBER_TOLERANCE = 10_000;
const MOST_READINGS = 8;

/**
 * Cluster time: the LOWEST of the living members' clocks, extrapolated by the monotonic clock, never going back. A
 * member that runs ahead is so ignored; one that lags costs only waiting.
 *
 * What safety needs is that whoever stamps an expiry and whoever checks it go by one clock that does not jump ahead.
 * That can't be proved, so the clock looks for signs of the contrary and is `suspect` for a while after each; meanwhile
 * takers go by their own observations alone ({@link Sightings}).
 */
export class ClusterClock {
  #members = new Map<string, MemberClock>();
  #latest = -Infinity;
  /** The node's wall clock minus its monotonic clock when the samples were taken. */
  #wallAhead = 0;
  #suspectUntil = -Infinity;
  #suspicion = '';
  #cancelTimer?: CancelTimer;
  #sampling?: Promise<void>;

  constructor(
    private readonly read: () => Promise<ClockReading>,
    private readonly node: NodeClock,
    private readonly options: ClusterClockOptions,
  ) {}

  /** Samples now and then regularly, until {@link stop}. A failed sample is made up for by the next. */
  start(): void {
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

  /** Cluster time in whole ms. Call it only while {@link isFresh}. */
  now(): number {
    const at = this.node.monotonic();
    let offset = Infinity;
    for (const member of this.#members.values()) {
      if (at - member.lastAt <= OLDEST_SAMPLE) offset = Math.min(offset, member.best!.offset);
    }
    if (offset !== Infinity) this.#latest = Math.max(this.#latest, Math.floor(at + offset));
    return this.#latest;
  }

  /** Samples say nothing of now when the monotonic clock stood still since (the machine slept) or the wall clock was set. */
  get #isSteady(): boolean {
    return Math.abs(this.node.wall() - this.node.monotonic() - this.#wallAhead) <= this.options.tolerance;
  }

  get isSuspect(): boolean {
    return this.node.monotonic() < this.#suspectUntil;
  }

  /** Notes a sign that clocks can't be trusted; `reason` is for people. */
  suspect(reason: string): void {
    const fresh = !this.isSuspect;
    this.#suspicion = reason;
    this.#suspectUntil = this.node.monotonic() + OLDEST_SAMPLE + 2 * this.options.longestDuration();
    if (fresh) this.options.onSuspect?.(reason);
  }

  report(): ClusterClockReport {
    const living = this.#living();
    const lowest = living.reduce((low, sample) => (sample.offset < low.offset ? sample : low), living[0]!);
    const suspect = this.isSuspect ? { suspect: this.#suspicion } : {};
    const base = { spread: this.#spread(), members: living.length, ...suspect };
    if (!lowest) return base;
    const offset = Math.round(lowest.offset + this.node.monotonic() - this.node.wall());
    return { ...base, offset, errorBound: lowest.roundTrip / 2 };
  }

  /** Successive readings come from different members: a few of them find all. */
  async #readMembers(): Promise<void> {
    if (!this.#isSteady) this.#members.clear();
    this.#wallAhead = this.node.wall() - this.node.monotonic();
    // The first ones must find them all: whoever knows only a member that runs ahead takes permits over too early.
    const isFirst = this.#members.size === 0;
    const readings = isFirst ? MOST_READINGS : Math.min(MOST_READINGS, Math.max(2, 2 * this.#members.size));
    for (let count = 0; count < readings; count++) await this.#readOne();
    this.#forgetDeparted();
    this.#checkAgreement();
    if (this.isFresh) return;
    throw new StoreUnavailableError(
      `the store took longer than clockTolerance (${this.options.tolerance} ms) to tell its time`,
    );
  }

  async #readOne(): Promise<void> {
    const sent = this.node.monotonic();
    const { time, member } = await this.read();
    const at = this.node.monotonic();
    // It is off by up to half the time that it was under way, also when the process was frozen meanwhile. A stamp made
    // by it would let others take a permit over too early.
    if (at - sent > this.options.tolerance) return;
    const clock = this.#members.get(member) ?? new MemberClock();
    this.#members.set(member, clock);
    const sample = { offset: time - (sent + at) / 2, roundTrip: at - sent, at };
    const moved = clock.add(sample, this.options.tolerance);
    if (moved > this.options.tolerance) {
      this.suspect(`the clock of member ${member} moved by ${Math.round(moved)} ms against this node's`);
    }
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
    const { offset = 0, members } = this.report();
    if (members === 1 && Math.abs(offset) > LONE_MEMBER_TOLERANCE) {
      this.suspect(`the only member's clock is ${offset} ms off this node's: let NTP set both`);
    }
  }

  #spread(): number {
    const offsets = this.#living().map((sample) => sample.offset);
    return offsets.length > 1 ? Math.max(...offsets) - Math.min(...offsets) : 0;
  }

  #living() {
    const at = this.node.monotonic();
    return [...this.#members.values()]
      .filter((member) => at - member.lastAt <= OLDEST_SAMPLE)
      .map((member) => member.best!);
  }
}
