/** A rate limit: the size of a burst, and the refill per second. */
export interface Rate {
  readonly atOnce: number;
  readonly perSecond: number;
}

interface Bucket {
  left: number;
  /** Time of the last refill: ms, monotonic. */
  at: number;
}

/** Limits the memory. Above this number, the least recently used key is forgotten. */
const MOST_KEYS = 1000;

/**
 * A rate limit with a token bucket per key, such as the name of a token or an address.
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
   * Takes `count` if at least one is left. If fewer than `count` are left, the difference must refill first before
   * anything can be taken again.
   *
   * @returns 0, or the ms until one can be taken
   */
  take(key: string, count = 1): number {
    const { left } = this.#used(key);
    if (left < 1) return Math.ceil(((1 - left) / this.rate.perSecond) * 1000);
    this.owe(key, count);
    return 0;
  }

  /** Takes `count`, however few are left. A negative count gives back. */
  owe(key: string, count: number): void {
    this.#used(key).left -= count;
  }

  /** Returns the bucket of a key, and marks the key as the most recently used. */
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
