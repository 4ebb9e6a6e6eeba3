/** One reading of a member's clock, compared with this node's monotonic clock. */
export interface ClockSample {
  /** The member's time minus the node's monotonic time at mid-flight, in ms. */
  readonly offset: number;
  /** How long the reading was under way, in ms: the offset is good to half of it. */
  readonly roundTrip: number;
  /** Monotonic ms at which the answer came. */
  readonly at: number;
}

/** A sample older than this (ms) decides nothing, and a member that was silent for so long no longer counts. */
export const OLDEST_SAMPLE = 30_000;
/** How many of the last samples a member is judged by. */
const KEPT = 5;

/** The clocks of the members that this node has heard. `at` is the node's monotonic time in ms. */
export class MemberClocks {
  readonly #clocks = new Map<string, MemberClock>();
  /** The values of {@link #clocks}. */
  #all: readonly MemberClock[] = [];

  /** How many members were heard, the silent ones of the last 30 s included. */
  get count(): number {
    return this.#clocks.size;
  }

  /** @returns see {@link MemberClock.add} */
  add(member: string, sample: ClockSample, tolerance: number): number {
    const clock = this.#clocks.get(member) ?? new MemberClock();
    this.#clocks.set(member, clock);
    this.#all = [...this.#clocks.values()];
    return clock.add(sample, tolerance);
  }

  clear(): void {
    this.#clocks.clear();
    this.#all = [];
  }

  forgetSilent(at: number): void {
    for (const [member, { lastAt }] of this.#clocks) if (at - lastAt > OLDEST_SAMPLE) this.#clocks.delete(member);
    this.#all = [...this.#clocks.values()];
  }

  /** Whether any member was heard in the last `age` ms. */
  isAnyHeard(at: number, age: number): boolean {
    return this.#all.some(({ lastAt }) => at - lastAt <= age);
  }

  /** The lowest offset; Infinity before the first sample. */
  lowest(at: number): number {
    let lowest = Infinity;
    for (const clock of this.#living(at)) lowest = Math.min(lowest, clock.best!.offset);
    return lowest;
  }

  /** The highest offset that any of them has had of late; -Infinity before the first sample. */
  highest(at: number): number {
    let highest = -Infinity;
    for (const clock of this.#living(at)) highest = Math.max(highest, clock.highest(at - OLDEST_SAMPLE));
    return highest;
  }

  /** Between the highest and the lowest offset, in ms. */
  spread(at: number): number {
    const offsets = this.samples(at).map(({ offset }) => offset);
    return offsets.length > 1 ? Math.max(...offsets) - Math.min(...offsets) : 0;
  }

  /** The best sample of each member. */
  samples(at: number): ClockSample[] {
    return this.#living(at).map(({ best }) => best!);
  }

  /** While all are silent, the last ones that were heard. */
  #living(at: number): readonly MemberClock[] {
    const isLiving = ({ lastAt }: MemberClock) => at - lastAt <= OLDEST_SAMPLE;
    // Each decision comes here: the usual case makes no list.
    if (this.#all.every(isLiving)) return this.#all;
    const living = this.#all.filter(isLiving);
    return living.length > 0 ? living : this.#all;
  }
}

/** The clock of one member, as this node's samples show it. */
class MemberClock {
  #samples: ClockSample[] = [];
  #best?: ClockSample;
  /** Its offset before the clock was set back, and when that was noticed. */
  #former?: { readonly offset: number; readonly until: number };

  /** Of the last few samples the one with the smallest round trip: the network disturbed it least. */
  get best(): ClockSample | undefined {
    return this.#best;
  }

  get lastAt(): number {
    return this.#samples.at(-1)?.at ?? -Infinity;
  }

  /**
   * The highest offset that the clock has had of late.
   *
   * @param since monotonic ms: an offset that ended before no longer counts
   */
  highest(since: number): number {
    const { offset } = this.#best!;
    return this.#former && this.#former.until >= since ? Math.max(offset, this.#former.offset) : offset;
  }

  /** @returns how far the member's clock moved against ours since the last samples, in ms, beyond what round trips explain */
  add(sample: ClockSample, tolerance: number): number {
    const before = this.best;
    const apart = before ? Math.abs(sample.offset - before.offset) : 0;
    const explained = (sample.roundTrip + (before?.roundTrip ?? 0)) / 2;
    const moved = Math.max(0, apart - explained);
    // The samples before a jump describe another clock.
    if (before && moved > tolerance) {
      this.#former = { offset: Math.max(before.offset, this.highest(sample.at - OLDEST_SAMPLE)), until: sample.at };
      this.#samples = [];
    }
    this.#samples = [...this.#samples, sample].slice(-KEPT);
    this.#best = this.#samples.reduce((best, other) => (best.roundTrip <= other.roundTrip ? best : other));
    return moved;
  }
}
