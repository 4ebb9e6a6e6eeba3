/** One reading of a member's clock, held against this node's monotonic clock. */
export interface ClockSample {
  /** The member's time minus the node's monotonic time at mid-flight, in ms. */
  readonly offset: number;
  /** How long the reading was under way, in ms: the offset is good to half of it. */
  readonly roundTrip: number;
  /** Monotonic ms at which the answer came. */
  readonly at: number;
}

/** A sample older than this (ms) decides nothing, and a member not heard of for so long no longer counts. */
export const OLDEST_SAMPLE = 30_000;
/** How many of the last samples a member is judged by. */
const KEPT = 5;

/** The clock of one member, as this node's samples show it. */
export class MemberClock {
  #samples: ClockSample[] = [];
  #best?: ClockSample;
  /** What it was before the clock was set back, and when that was noticed. */
  #former?: { readonly offset: number; readonly until: number };

  /** The offset by the sample with the smallest round trip of the last few: the one that the network disturbed least. */
  get best(): ClockSample | undefined {
    return this.#best;
  }

  get lastAt(): number {
    return this.#samples.at(-1)?.at ?? -Infinity;
  }

  /**
   * The highest offset that the clock has had of late.
   *
   * @param since monotonic ms: what was over before no longer counts
   */
  highest(since: number): number {
    const { offset } = this.#best!;
    return this.#former && this.#former.until >= since ? Math.max(offset, this.#former.offset) : offset;
  }

  /** @returns how far the member's clock moved against ours since the last samples, in ms, beyond what is explained by round trips */
  add(sample: ClockSample, tolerance: number): number {
    const before = this.best;
    const apart = before ? Math.abs(sample.offset - before.offset) : 0;
    const explained = (sample.roundTrip + (before?.roundTrip ?? 0)) / 2;
    const moved = Math.max(0, apart - explained);
    // After a jump the older samples tell of another clock.
    if (before && moved > tolerance) {
      this.#former = { offset: Math.max(before.offset, this.highest(sample.at - OLDEST_SAMPLE)), until: sample.at };
      this.#samples = [];
    }
    this.#samples = [...this.#samples, sample].slice(-KEPT);
    this.#best = this.#samples.reduce((best, other) => (best.roundTrip <= other.roundTrip ? best : other));
    return moved;
  }
}
