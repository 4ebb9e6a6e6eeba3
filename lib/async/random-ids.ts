import { randomBytes, randomUUID } from 'node:crypto';

/** Source of randomness; tests replace it by a seeded one. */
export interface Randomness {
  /** 0 <= x < 1 */
  number(): number;
  /** A unique text. */
  id(): string;
  /** The id of this process: a random UUID. */
  instance(): string;
}

/**
 * Unique ids: 64 random bits per process, then a counter. A random UUID per id would take 0.2 µs more, and
 * each record has two ids: every text that is sent, compared and stored would have 40 more characters.
 *
 * Only lower-case letters, digits and one dot: operators pass ids on a command line, which would treat a leading "-" as an
 * option.
 */
export function systemRandomness(): Randomness {
  const prefix = `${randomBytes(8).readBigUInt64BE().toString(36)}.`;
  let count = 0;
  return { number: Math.random, id: () => prefix + (count++).toString(36), instance: randomUUID };
}
