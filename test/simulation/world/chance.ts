/** Seeded chance (mulberry32): the same seed gives the same run, on every machine. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** 0 <= x < 1 */
  number = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };

  /** A stream of its own: draws of one part do not shift the draws of another. */
  fork(): Chance {
    return new Chance(Math.floor(this.number() * 2 ** 32));
  }

  /** A stream of its own that takes no draw from this one: for kinds of events that came later, so that old seeds stay. */
  beside(): Chance {
    return new Chance(~this.#state);
  }

  happens(probability: number): boolean {
    return this.number() < probability;
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.number();
  }

  whole(low: number, high: number): number {
    return Math.floor(this.between(low, high + 1));
  }

  /** Mostly near `low`, rarely near `high`: faults and delays span orders of magnitude. */
  skewed(low: number, high: number): number {
    return low * (high / low) ** this.number();
  }

  pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.number() * choices.length)]!;
  }

  /** Picks a key, each as often as its weight says. */
  weighted<K extends string>(weights: Record<K, number>): K {
    let sum = 0;
    for (const key in weights) sum += weights[key];
    let left = this.number() * sum;
    for (const key in weights) if ((left -= weights[key]) < 0) return key;
    return Object.keys(weights)[0] as K;
  }
}
