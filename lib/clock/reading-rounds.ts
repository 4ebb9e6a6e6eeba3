import type { NodeClock } from '../async/node-clock.js';
import type { ClockReading } from '../stores/store.js';
import type { MemberClocks } from './member-clocks.js';

/** Reads the members' clocks. */
export interface ClockSource {
  /** Successive readings come from different members. */
  now(): Promise<ClockReading>;
  /** How many members the store sees; 0 while it can't tell. */
  members(): number;
}

/** Limits for the readings of a round: the fewest while members may be unknown, and the most for any number of members. */
const FEWEST_READINGS = 8;
const MOST_READINGS = 64;
/** Rounds after the start in which calls wait for readings. Members that were not heard by then hang or are gone. */
const HASTY_ROUNDS = 5;

/**
 * Reads all members' clocks, round by round. A client can't choose the member that answers, so a round asks often enough
 * to hear each of them, and {@link unheard} tells whether one may be missing.
 */
export class ReadingRounds {
  #sampledAt = -Infinity;
  /** How many members there were by the last round. */
  #expected = 0;
  /** Whether all readings of a round came back. */
  #isComplete = false;
  /** Rounds since the node knew none of the members' clocks. */
  #count = 0;

  /**
   * @param tolerance ms; a reading that was under way for longer does not count
   * @param onMove hears of a member's clock that moved by more than the tolerance, in ms
   */
  constructor(
    private readonly source: ClockSource,
    private readonly node: NodeClock,
    private readonly clocks: MemberClocks,
    private readonly tolerance: number,
    private readonly onMove: (member: string, moved: number) => void,
  ) {}

  /** Monotonic ms at which the last round began that brought any reading: what it shows is younger. */
  get sampledAt(): number {
    return this.#sampledAt;
  }

  /**
   * Says which members may not have been heard; undefined when all were. Their number alone is no proof: a member that
   * has just left, or that holds no data, may stand in for one that does not answer.
   */
  get unheard(): string | undefined {
    if (this.#expected === 0) return 'the store does not say which members there are';
    const heard = this.clocks.count;
    if (heard < Math.min(MOST_READINGS / 2, this.#expected)) {
      return `only ${heard} of ${this.#expected} members have told their time`;
    }
    return this.#isComplete ? undefined : 'no round of readings has come back complete yet';
  }

  /** Whether right after the start another round may hear the members that are missing. */
  get mayHearMore(): boolean {
    return this.unheard !== undefined && this.#count < HASTY_ROUNDS;
  }

  /** @throws whatever the store throws when it can't be asked; the readings that came back count all the same */
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
      // A node that has just lost the store can't tell, and is as sure of them as before.
      this.#expected = this.source.members() || this.#expected;
    }
  }

  /** Two for each member, because requests of others may take a turn in between. */
  #readings(): number {
    const known = Math.max(this.clocks.count, this.source.members());
    return Math.min(MOST_READINGS, Math.max(this.unheard ? FEWEST_READINGS : 2, 2 * known));
  }

  /** @returns whether it counts */
  async #readOne(): Promise<boolean> {
    const sent = this.node.monotonic();
    const { time, member } = await this.source.now();
    const at = this.node.monotonic();
    // It is off by up to half the time that it was under way, also when the process was frozen meanwhile. A stamp made
    // by it would let others take a permit over too early.
    if (at - sent > this.tolerance) return false;
    const moved = this.clocks.add(member, { offset: time - (sent + at) / 2, roundTrip: at - sent, at }, this.tolerance);
    if (moved > this.tolerance) this.onMove(member, moved);
    return true;
  }
}
