import { z } from 'zod';
import { LONGEST_REASON, reasonSchema } from '../../gatekeeper/index.js';
import {
  LONGEST_DURATION,
  LONGEST_NAME,
  LONGEST_PATTERN,
  MOST_PERMITS,
  compilePattern,
  definitionSchema,
  durationSchema,
  nameSchema,
  show,
} from '../../semaphores/index.js';

/**
 * The parts that requests are made of. Each is the very type that the rest of the package checks with; what a JSON
 * schema can't see in it is said in its `meta`, for the OpenAPI document.
 */

const { shape } = definitionSchema;
const patternMeta = { type: 'string', maxLength: LONGEST_PATTERN, description: 'RE2; must match the whole name' };

/** The name of a semaphore, holder, acquirer or group. */
export const name = nameSchema.meta({ type: 'string', minLength: 1, maxLength: LONGEST_NAME });

export const duration = durationSchema.meta({
  anyOf: [
    { type: 'number', exclusiveMinimum: 0, maximum: LONGEST_DURATION },
    { type: 'string', examples: ['30s', '5m', '1h'] },
  ],
  description: 'ms, or text such as "30s", "5m", "1h"',
});

export const pattern = shape.groupPattern.unwrap().meta(patternMeta);

export const permits = shape.permits
  .unwrap()
  .meta({ type: 'integer', minimum: 0, maximum: MOST_PERMITS, description: '0: nobody new gets a permit' });

export const reason = reasonSchema.meta({
  type: 'string',
  maxLength: LONGEST_REASON,
  description: 'Why; shown to everybody',
});

export const expectedRevision = positive('a revision').meta({
  description: 'The revision that was read: when it is another one by now the change is refused',
});

/** Of a permit, as an answer gave it. */
export const permitId = name.meta({ type: 'string', minLength: 1, maxLength: LONGEST_NAME });

/** How many at most. */
export const limit = positive('a number of steps').max(10_000);

/** Names of semaphores that an operation is for; all of them unless given. */
export const names = pattern.meta({ ...patternMeta, description: 'RE2 over the whole name of a semaphore' });

export const flag = z.boolean({ error: ({ input }) => `${show(input)} is neither true nor false` });

/** A switch in a query. */
export const flagText = z
  .enum(['true', 'false'], { error: ({ input }) => `${show(input)} is neither true nor false` })
  .transform((text) => text === 'true');

/** A number in a query: how many entries, newest first. */
export const limitText = (most: number, usual: number) =>
  z
    .string({ error: ({ input }) => `${show(input)} is not a number` })
    .regex(/^[1-9]\d{0,8}$/, { error: ({ input }) => `${show(input)} is not a whole number from 1 to ${most}` })
    .transform(Number)
    .refine((count) => count <= most, {
      error: ({ input }) => `${show(input)} is not a whole number from 1 to ${most}`,
    })
    .prefault(String(usual));

export const text = (most: number) =>
  z
    .string({ error: ({ input }) => `${show(input)} is not text` })
    .max(most, { error: `is longer than ${most} characters` });

/** Compiles what {@link names} has checked. */
export function matcherOf(names: string | undefined): (name: string) => boolean {
  const compiled = compilePattern(names ?? '.*');
  return typeof compiled === 'string' ? () => false : compiled;
}

function positive(what: string) {
  return z
    .int({ error: ({ input }) => `${show(input)} is not ${what}` })
    .positive({ error: ({ input }) => `${show(input)} is not ${what}` });
}
