/** How often something may be done: at once, and then again and again. */
export interface Rate {
  readonly atOnce: number;
  readonly perSecond: number;
}

interface Bucket {
  left: number;
  /** ms */
  at: number;
}

/** Beyond so many keys the one that was not used for the longest time is forgotten: memory stays bounded. */
const MOST_KEYS = 1000;

/**
 * Counts what is done by key (a token's name, an address): a token bucket for each.
 *
 * @see https://en.wikipedia.org/wiki/Token_bucket
 */
export class Allowance {
  readonly #buckets = new Map<string, Bucket>();

  constructor(
    private readonly rate: Rate,
    /** ms, monotonic */
    private readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * Takes `count` if there is at least one: the rest is owed, and nothing more is there to take until it is made up for.
   *
   * @returns 0, or the ms after which there is one to take again
   */
  take(key: string, count = 1): number {
    const { left } = this.#used(key);
    if (left < 1) return Math.ceil(((1 - left) / this.rate.perSecond) * 1000);
    this.owe(key, count);
    return 0;
  }

  /** Takes `count` whether they are there or not. A negative count gives back. */
  owe(key: string, count: number): void {
    this.#used(key).left -= count;
  }

  /** The bucket of a key, which is now the last to be forgotten. */
  #used(key: string): Bucket {
    const bucket = this.#filled(key);
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > MOST_KEYS) this.#buckets.delete(this.#buckets.keys().next().value!);
    return bucket;
  }

  #filled(key: string): Bucket {
    const { atOnce, perSecond } = this.rate;
    const at = this.now();
    const known = this.#buckets.get(key);
    if (!known) return { left: atOnce, at };
    return { left: Math.min(atOnce, known.left + ((at - known.at) / 1000) * perSecond), at };
  }
}
