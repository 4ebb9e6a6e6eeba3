/** Limit of a rate: the size of a burst, and the refill per second. */
export interface Rate {
  readonly atOnce: number;
  readonly perSecond: number;
}

interface Bucket {
  left: number;
  /** ms */
  at: number;
}

/** Limits memory: with more keys than this, the least recently used one is forgotten. */
const MOST_KEYS = 1000;

/**
 * A token bucket for each key, such as a token's name or an address.
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
   * Takes `count` if at least one is left. The difference is owed, and nothing can be taken until it has refilled.
   *
   * @returns 0, or the ms until one can be taken again
   */
  take(key: string, count = 1): number {
    const { left } = this.#used(key);
    if (left < 1) return Math.ceil(((1 - left) / this.rate.perSecond) * 1000);
    this.owe(key, count);
    return 0;
  }

  /** Takes `count` even if fewer are left. A negative count gives back. */
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
