import { randomBytes } from 'node:crypto';

/** Source of randomness; tests replace it by a seeded one. */
export interface Randomness {
  /** 0 <= x < 1 */
  number(): number;
  /** A unique text. */
  id(): string;
  /** The id of this process: 16 random hexadecimal digits. */
  instance(): string;
}

/**
 * Unique ids: 64 random bits per process, then a counter; and 64 bits for the process itself. UUIDs would add 80
 * characters to the text of a record with one permit, which every call sends and compares.
 *
 * Only lower-case letters, digits and one dot: operators pass ids on a command line, which would treat a leading "-" as an
 * option.
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
