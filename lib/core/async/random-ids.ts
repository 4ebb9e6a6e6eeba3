import { randomBytes } from 'node:crypto';

/** Source of randomness; tests replace it by a seeded one. */
export interface Randomness {
  /** 0 <= x < 1 */
  number(): number;
  /** A unique id. */
  id(): string;
  /** The id of this process: 16 random hexadecimal digits. */
  instance(): string;
}

/**
 * Each id is 64 random bits of the process, then a counter. The id of the process itself is 64 other random bits. UUIDs
 * would add 80 characters to the text of a record with one permit, which every call sends and compares.
 *
 * Ids contain only lower-case letters, digits and at most one dot. Operators pass them on a command line, which would
 * treat a leading "-" as an option.
 */
export function systemRandomness(): Randomness {
  const prefix = `${randomBytes(8).readBigUInt64BE().toString(36)}.`;
  let count = 0;
  return {
    number: Math.random,
    id: () => prefix + (count++).toString(36),
    instance: () => randomBytes(8).toString('hex'),
  };
}
