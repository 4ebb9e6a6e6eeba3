import { randomBytes, randomUUID } from 'node:crypto';
import type { Randomness } from './context.js';

/**
 * Ids that nobody else makes: 96 random bits per process, then a counter. As unique as random ones, and an order of
 * magnitude cheaper where each write needs one.
 */
export function systemRandomness(): Randomness {
  const prefix = `${randomBytes(12).toString('base64url')}.`;
  let count = 0;
  return { number: Math.random, id: () => prefix + (count++).toString(36), instance: randomUUID };
}
