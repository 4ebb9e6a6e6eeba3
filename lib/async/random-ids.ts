import { randomBytes, randomUUID } from 'node:crypto';

/** Where chance comes from: tests put a seeded one in its stead. */
export interface Randomness {
  /** 0 <= x < 1 */
  number(): number;
  /** A text that nobody else makes. */
  id(): string;
  /** The id of this process: a random UUID. */
  instance(): string;
}

/**
 * Ids that nobody else makes: 96 random bits per process, then a counter. As unique as random ones, and an order of
 * magnitude cheaper where each write needs one. Of small letters, digits and one dot only: an operator gives them to a
 * command line, which would take one that begins with "-" for an option.
 */
export function systemRandomness(): Randomness {
  const prefix = `${BigInt(`0x${randomBytes(12).toString('hex')}`).toString(36)}.`;
  let count = 0;
  return { number: Math.random, id: () => prefix + (count++).toString(36), instance: randomUUID };
}
