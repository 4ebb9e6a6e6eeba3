/** One reading of a member's clock, compared with this node's monotonic clock. */
export interface ClockSample {
  /** The member's time minus the node's monotonic time at the middle of the round trip, in ms. */
  readonly offset: number;
  /** Duration of the reading in ms. The error of `offset` is at most half of it. */
  readonly roundTrip: number;
  /** Monotonic ms at which the answer arrived. */
  readonly at: number;
}

/** Oldest useful sample, in ms. A member that was silent for longer no longer counts. */
export const OLDEST_SAMPLE = 30_000;
/** Number of samples that are kept per member. */
const KEPT = 5;

/** The clocks of the members that this node has heard. `at` is the node's monotonic time in ms. */
export class MemberClocks {
  readonly #clocks = new Map<string, MemberClock>();
  /** The values of {@link #clocks}. */
  #all: readonly MemberClock[] = [];

  /** Number of members that answered, including those that have been silent for up to 30 s. */
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

  /** Whether any member answered in the last `age` ms. */
  isAnyHeard(at: number, age: number): boolean {
    return this.#all.some(({ lastAt }) => at - lastAt <= age);
  }

  /** The lowest offset; Infinity before the first sample. */
  lowest(at: number): number {
    let lowest = Infinity;
    for (const clock of this.#living(at)) lowest = Math.min(lowest, clock.best!.offset);
    return lowest;
  }

  /** The highest recent offset of any member; -Infinity before the first sample. */
  highest(at: number): number {
    let highest = -Infinity;
    for (const clock of this.#living(at)) highest = Math.max(highest, clock.highest(at - OLDEST_SAMPLE));
    return highest;
  }

  /** Difference between the highest and the lowest offset, in ms. */
  spread(at: number): number {
    const offsets = this.samples(at).map(({ offset }) => offset);
    return offsets.length > 1 ? Math.max(...offsets) - Math.min(...offsets) : 0;
  }

  /** The best sample of each member. */
  samples(at: number): ClockSample[] {
    return this.#living(at).map(({ best }) => best!);
  }

  /** Clocks of the members that answered recently. If none did, all known clocks. */
  #living(at: number): readonly MemberClock[] {
    const isLiving = ({ lastAt }: MemberClock) => at - lastAt <= OLDEST_SAMPLE;
    // Runs at each decision, so the usual case creates no list.
    if (this.#all.every(isLiving)) return this.#all;
    const living = this.#all.filter(isLiving);
    return living.length > 0 ? living : this.#all;
  }
}

/** The clock of one member, by this node's samples. */
class MemberClock {
  #samples: ClockSample[] = [];
  #best?: ClockSample;
  /** The offset before the clock jumped, and when this node noticed that. */
  #former?: { readonly offset: number; readonly until: number };

  /** The kept sample with the smallest round trip, which has the smallest error. */
  get best(): ClockSample | undefined {
    return this.#best;
  }

  get lastAt(): number {
    return this.#samples.at(-1)?.at ?? -Infinity;
  }

  /**
   * The highest recent offset.
   *
   * @param since monotonic ms; an offset that ended before that does not count
   */
  highest(since: number): number {
    const { offset } = this.#best!;
    return this.#former && this.#former.until >= since ? Math.max(offset, this.#former.offset) : offset;
  }

  /**
   * @returns how far the member's clock moved against this node's since the last samples, in ms, minus the error bounds
   */
  add(sample: ClockSample, tolerance: number): number {
    const before = this.best;
    const apart = before ? Math.abs(sample.offset - before.offset) : 0;
    const explained = (sample.roundTrip + (before?.roundTrip ?? 0)) / 2;
    const moved = Math.max(0, apart - explained);
    // After a jump, the former samples are useless.
    if (before && moved > tolerance) {
      this.#former = { offset: Math.max(before.offset, this.highest(sample.at - OLDEST_SAMPLE)), until: sample.at };
      this.#samples = [];
    }
    this.#samples = [...this.#samples, sample].slice(-KEPT);
    this.#best = this.#samples.reduce((best, other) => (best.roundTrip <= other.roundTrip ? best : other));
    return moved;
  }
}
