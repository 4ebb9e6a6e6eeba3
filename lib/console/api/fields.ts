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
  readDuration,
  numberReadBy,
  show,
} from '../../decision/index.js';

/**
 * The parts of requests. Each is the type that the rest of the package checks with. Rules that a JSON schema can't express
 * are described in its `meta`, for the OpenAPI document.
 */

const { shape } = definitionSchema;
/** Without control characters; escaped as every generator's language reads it. */
const ONE_LINE = String.raw`^[^\x00-\x1F\x7F-\x9F]*$`;
const patternMeta = {
  type: 'string',
  maxLength: LONGEST_PATTERN,
  pattern: ONE_LINE,
  description: 'RE2; must match the whole name',
};
const nameMeta = {
  type: 'string',
  minLength: 1,
  maxLength: LONGEST_NAME,
  pattern: String.raw`^[^\x00-\x1F\x7F-\x9F]+$`,
};
/** Clients treat "." and ".." in a path as folders. */
const newNamePattern = String.raw`^(\.*[^.\x00-\x1F\x7F-\x9F][^\x00-\x1F\x7F-\x9F]*|\.{3,})$`;
/** Whole numbers of a unit, never more than a year in all. The check takes other spellings, too. */
const durationText = {
  type: 'string',
  pattern: '^([1-9][0-9]{0,9} ?(ms)?|[1-9][0-9]{0,6} ?s|[1-9][0-9]{0,4} ?m|[1-9][0-9]{0,2} ?h|[1-9][0-9]? ?d)$',
  examples: ['30s', '5m', '1h'],
};

const zeroText = '0 ?(ms|s|m|h|d)?';

/** The name of a semaphore, holder, acquirer or group. */
export const name = nameSchema.meta(nameMeta);

/** The name of a semaphore to be defined. */
export const newName = nameSchema.meta({ ...nameMeta, pattern: newNamePattern });

export const duration = durationSchema.meta({
  id: 'Duration',
  anyOf: [{ type: 'integer', format: 'int64', minimum: 1, maximum: LONGEST_DURATION }, durationText],
  description: 'ms, or text such as "30s", "5m", "1h"',
});

/** ms, may be 0: numbers and text as {@link duration} reads them. */
function durationOrZero(most: number) {
  return numberReadBy((value) => {
    const read = isZero(value) ? 0 : readDuration(value);
    return typeof read === 'number' && read > most ? `${show(value)} is more than ${most} ms` : read;
  });
}

function isZero(value: unknown): boolean {
  return value === 0 || (typeof value === 'string' && /^0+ ?(ms|s|m|h|d)?$/.test(value));
}

/** The longest time that a request waits for a permit, in ms. */
export const LONGEST_WAIT = 60_000;

export const wait = durationOrZero(LONGEST_WAIT).meta({
  id: 'Wait',
  anyOf: [
    { type: 'integer', format: 'int64', minimum: 0, maximum: LONGEST_WAIT },
    {
      type: 'string',
      pattern: `^(${zeroText}|([1-9][0-9]{0,3}|[1-5][0-9]{4}|60000) ?(ms)?|([1-9]|[1-5][0-9]|60) ?s|1 ?m)$`,
      examples: ['5s', '1m'],
    },
  ],
  description: 'ms, or text such as "5s": how long to wait for a free permit; 0 unless given',
});

export const atLeastFor = durationOrZero(LONGEST_DURATION).meta({
  id: 'AtLeastFor',
  anyOf: [
    { type: 'integer', format: 'int64', minimum: 0, maximum: LONGEST_DURATION },
    { ...durationText, pattern: durationText.pattern.replace('^(', `^(${zeroText}|`) },
  ],
  description:
    'ms, or text such as "30s", from the grant: until then the slot stays taken, but never longer than the permit ' +
    'would have lasted. Default: free at once',
});

export const pattern = shape.groupPattern.unwrap().meta({ ...patternMeta });

export const permits = shape.permits
  .unwrap()
  .meta({ type: 'integer', minimum: 0, maximum: MOST_PERMITS, description: '0: no new permits are granted' });

export const reason = reasonSchema.meta({
  type: 'string',
  maxLength: LONGEST_REASON,
  pattern: ONE_LINE,
  description: 'Why; shown to all users',
});

export const expectedRevision = positive('a revision').meta({
  description: 'The revision that was read: the change is refused if the revision is another one now',
});

/** Of a permit, as an answer gave it. */
export const permitId = name.meta({ ...nameMeta });

/** The maximum number. */
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
  numberReadBy((text) =>
    /^[1-9]\d{0,8}$/.test(String(text)) && Number(text) <= most
      ? Number(text)
      : `${show(text)} is not a whole number from 1 to ${most}`,
  )
    .default(usual)
    .meta({ type: 'integer', format: 'int64', minimum: 1, maximum: most, default: usual });

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
    .min(1, { error: ({ input }) => `${show(input)} is not ${what}` });
}
