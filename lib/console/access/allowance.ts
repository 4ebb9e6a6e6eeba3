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

  /** Takes one. @returns 0, or the ms after which there is one to take again */
  take(key: string): number {
    const bucket = this.#filled(key);
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > MOST_KEYS) this.#buckets.delete(this.#buckets.keys().next().value!);
    if (bucket.left < 1) return Math.ceil(((1 - bucket.left) / this.rate.perSecond) * 1000);
    bucket.left--;
    return 0;
  }

  #filled(key: string): Bucket {
    const { atOnce, perSecond } = this.rate;
    const at = this.now();
    const known = this.#buckets.get(key);
    if (!known) return { left: atOnce, at };
    return { left: Math.min(atOnce, known.left + ((at - known.at) / 1000) * perSecond), at };
  }
}
