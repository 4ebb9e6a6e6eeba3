import type { NodeClock } from '../async/node-clock.js';
import type { ClockReading } from '../store/driver.js';
import type { MemberClocks } from './member-clocks.js';

/** Source of readings of the members' clocks. */
export interface ClockSource {
  /** Successive readings come from different members. */
  now(): Promise<ClockReading>;
  /** Number of members that the store sees; 0 if it is unknown. */
  members(): number;
}

/**
 * Limits for the readings of a round: the minimum while a member's clock may be unknown, and the maximum in any case.
 */
const FEWEST_READINGS = 8;
const MOST_READINGS = 64;
/** Rounds after the start for which calls wait. A member that has not answered by then hangs or is gone. */
const HASTY_ROUNDS = 5;

/**
 * Reads all members' clocks, round by round. A client can't choose the member that answers. So a round asks often
 * enough to reach each member, and {@link unheard} says whether one may be missing.
 */
export class ReadingRounds {
  #sampledAt = -Infinity;
  /** Number of members at the last round. */
  #expected = 0;
  /** Whether a round was complete, with an answer to each reading. */
  #isComplete = false;
  /** Number of rounds since this node knew no clock. */
  #count = 0;

  /**
   * @param tolerance ms; a reading that took longer does not count
   * @param onMove called when a member's clock moved by more than the tolerance, with the difference in ms
   */
  constructor(
    private readonly source: ClockSource,
    private readonly node: NodeClock,
    private readonly clocks: MemberClocks,
    private readonly tolerance: number,
    private readonly onMove: (member: string, moved: number) => void,
  ) {}

  /** Monotonic ms at which the last round with any reading began. Its readings are younger than that. */
  get sampledAt(): number {
    return this.#sampledAt;
  }

  /**
   * Says, in a sentence, why a member's clock may be unknown; undefined if all are known. The number of members alone
   * proves nothing: a member that has just left, or that has no data, may be counted instead of one that does not
   * answer.
   */
  get unheard(): string | undefined {
    if (this.#expected === 0) return 'the store does not say which members there are';
    const heard = this.clocks.count;
    if (heard < Math.min(MOST_READINGS / 2, this.#expected)) {
      return `only ${heard} of ${this.#expected} members have told their time`;
    }
    return this.#isComplete ? undefined : 'no round of readings has come back complete yet';
  }

  /** Whether, right after the start, another round may still reach missing members. */
  get mayHearMore(): boolean {
    return this.unheard !== undefined && this.#count < HASTY_ROUNDS;
  }

  /** Reads one round. @throws any error of a store that can't be asked; readings that were answered count even then */
  async read(): Promise<void> {
    const began = this.node.monotonic();
    if (this.clocks.count === 0) [this.#isComplete, this.#count] = [false, 0];
    try {
      let counted = 0;
      const readings = this.#readings();
      for (let count = 0; count < readings; count++) if (await this.#readOne()) counted++;
      this.#isComplete ||= counted === readings;
    } finally {
      this.#count++;
      const at = this.node.monotonic();
      if (this.clocks.isAnyHeard(began, 0)) this.#sampledAt = began;
      this.clocks.forgetSilent(at);
      // If the node has just lost the store, the number is unknown, and the former one still counts.
      this.#expected = this.source.members() || this.#expected;
    }
  }

  /** Number of readings: two per member, because other requests of this client may use some turns. */
  #readings(): number {
    const known = Math.max(this.clocks.count, this.source.members());
    return Math.min(MOST_READINGS, Math.max(this.unheard ? FEWEST_READINGS : 2, 2 * known));
  }

  /** @returns whether the reading counts */
  async #readOne(): Promise<boolean> {
    const sent = this.node.monotonic();
    const { time, member } = await this.source.now();
    const at = this.node.monotonic();
    // The error of a reading is up to half its duration, even if the process was frozen meanwhile. A time stamp with a
    // large error would let other nodes take a permit over too early.
    if (at - sent > this.tolerance) return false;
    const moved = this.clocks.add(member, { offset: time - (sent + at) / 2, roundTrip: at - sent, at }, this.tolerance);
    if (moved > this.tolerance) this.onMove(member, moved);
    return true;
  }
}
