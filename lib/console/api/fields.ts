import { z } from 'zod';
import { LONGEST_REASON, entryIdSchema, reasonSchema } from '../../gatekeeper/index.js';
import {
  LONGEST_DURATION,
  LONGEST_NAME,
  LONGEST_PATTERN,
  MOST_PERMITS,
  compilePattern,
  definitionSchema,
  durationSchema,
  lineSchema,
  nameSchema,
  readDelay,
  readDuration,
  numberReadBy,
  patternTextSchema,
  show,
} from '../../core/decision/index.js';

/**
 * The parts of requests. Each uses the same check as the rest of the package. `meta` describes rules for the OpenAPI
 * document that zod can't turn into a JSON schema.
 */

const { shape } = definitionSchema;
/** Matches text without control characters. The escapes mean the same in the languages of all client generators. */
const ONE_LINE = String.raw`^[^\x00-\x1F\x7F-\x9F]*$`;
const patternMeta = {
  type: 'string',
  maxLength: LONGEST_PATTERN,
  pattern: ONE_LINE,
  description: 'RE2; must match the whole name',
};
const patternFields = new WeakSet<z.ZodType>();
const nameMeta = {
  type: 'string',
  minLength: 1,
  maxLength: LONGEST_NAME,
  pattern: String.raw`^[^\x00-\x1F\x7F-\x9F]+$`,
};
/** Matches all names except "." and "..", which clients treat as folders in a path. */
const newNamePattern = String.raw`^(\.*[^.\x00-\x1F\x7F-\x9F][^\x00-\x1F\x7F-\x9F]*|\.{3,})$`;
/** Matches ISO 8601 durations of whole days, hours, minutes and seconds, up to a year. */
const isoText =
  'P([1-9][0-9]?D|([1-9][0-9]?D)?T([1-9][0-9]{0,2}H([1-9][0-9]{0,4}M)?([1-9][0-9]{0,6}S)?|' +
  '[1-9][0-9]{0,4}M([1-9][0-9]{0,6}S)?|[1-9][0-9]{0,6}S))';
/** Matches whole numbers of a unit, up to a year. The check also accepts other spellings. */
const durationTexts =
  '[1-9][0-9]{0,9} ?(ms)?|[1-9][0-9]{0,6} ?s|[1-9][0-9]{0,4} ?m|[1-9][0-9]{0,2} ?h|[1-9][0-9]? ?d|' + isoText;
const durationText = {
  type: 'string',
  pattern: `^(${durationTexts})$`,
  examples: ['30s', '5m', '1h', 'PT5M'],
};

const zeroText = '0 ?(ms|s|m|h|d)?|PT0S';

/** The name of a semaphore, holder, acquirer or group. */
export const name = nameSchema.meta(nameMeta);

/** The name of a semaphore that is being defined. */
export const newName = nameSchema.meta({ ...nameMeta, pattern: newNamePattern });

export const duration = durationSchema.meta({
  id: 'Duration',
  anyOf: [{ type: 'integer', format: 'int64', minimum: 1, maximum: LONGEST_DURATION }, durationText],
  description: 'ms, or text such as "30s", "5m", "1h", "PT5M"',
});

/** Durations as in {@link duration}, but 0 is allowed. @param most ms */
export function durationOrZero(most: number) {
  return numberReadBy((value) => {
    const read = readDelay(value);
    return typeof read === 'number' && read > most ? `${show(value)} is more than ${most} ms` : read;
  });
}

/** The longest time that a request waits for a permit, in ms. */
export const LONGEST_WAIT = 60_000;

export const wait = durationOrZero(LONGEST_WAIT).meta({
  id: 'Wait',
  anyOf: [
    { type: 'integer', format: 'int64', minimum: 0, maximum: LONGEST_WAIT },
    {
      type: 'string',
      pattern: `^(${zeroText}|([1-9][0-9]{0,3}|[1-5][0-9]{4}|60000) ?(ms)?|([1-9]|[1-5][0-9]|60) ?s|1 ?m|PT([1-9]|[1-5][0-9]|60)S|PT1M)$`,
      examples: ['5s', '1m', 'PT5S'],
    },
  ],
  description: 'longest wait for a free permit: ms, or text such as "5s". Default 0',
});

export const atLeastFor = durationOrZero(LONGEST_DURATION).meta({
  id: 'AtLeastFor',
  anyOf: [
    { type: 'integer', format: 'int64', minimum: 0, maximum: LONGEST_DURATION },
    { ...durationText, pattern: durationText.pattern.replace('^(', `^(${zeroText}|`) },
  ],
  description:
    'shortest time from the grant until the slot is free: ms, or text such as "30s". Never longer than the permit ' +
    'would have lasted. Default: the slot is free at once',
});

export const pattern = patternField(patternMeta);

export const permits = shape.permits
  .unwrap()
  .meta({ type: 'integer', minimum: 0, maximum: MOST_PERMITS, description: '0: no permit is granted' });

export const reason = reasonSchema.meta({
  type: 'string',
  maxLength: LONGEST_REASON,
  pattern: ONE_LINE,
  description: 'Why; shown to all users',
});

export const expectedRevision = positive('a revision').meta({
  description: 'The revision that the client has read. The change is refused if the present revision is another one',
});

/** The id of a permit, from the answer that granted it. */
export const permitId = name.meta({ ...nameMeta });

/** Maximum number of changes or steps in one call. */
export const limit = positive('a whole number from 1 on').max(10_000);

/** Pattern for the names of the semaphores to change. Default: all. */
export const names = patternField({
  ...patternMeta,
  description: 'RE2; must match the whole name of a semaphore. Default: all',
});

/** The id of an entry of the audit log, or the one that the entries of a change of many share. */
export const entryId = entryIdSchema.meta({ type: 'string', pattern: String.raw`^[\w.-]{1,64}$` });

export const flag = z.boolean({ error: ({ input }) => `${show(input)} is neither true nor false` });

/** A boolean in a query. */
export const flagText = z
  .enum(['true', 'false'], { error: ({ input }) => `${show(input)} is neither true nor false` })
  .transform((text) => text === 'true');

/** The maximum number of entries, in a query. */
export const limitText = (most: number, usual: number) =>
  numberReadBy((text) =>
    /^[1-9]\d{0,8}$/.test(String(text)) && Number(text) <= most
      ? Number(text)
      : `${show(text)} is not a whole number from 1 to ${most}`,
  )
    .default(usual)
    .meta({ type: 'integer', format: 'int64', minimum: 1, maximum: most, default: usual });

/** Matches the days and times of {@link ISO_TIME} that exist. February may have 31 days: they are read as those of March. */
const isoTime = String.raw`\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,3})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d))?`;
const ISO_TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

/** A time in a query. A duration means the time before now, and is read as a negative number. */
export const timeText = numberReadBy((value) => {
  const given = String(value);
  if (/^\d{1,15}$/.test(given)) return Number(given);
  const time = ISO_TIME.test(given) ? Date.parse(given) : NaN;
  // Nothing is older than 1970, and a negative number would be a time before now.
  if (!Number.isNaN(time)) return Math.max(0, time);
  const ago = readDuration(given);
  return typeof ago === 'number'
    ? -ago
    : `${show(given)} is no time: give ms since the epoch, "2026-11-21T03:00:00Z", or a time before now such as "1d"`;
}).meta({
  type: 'string',
  maxLength: 40,
  examples: ['1d', '2026-11-21T03:00:00Z'],
  pattern: `^([0-9]{1,15}|${isoTime}|${durationTexts})$`,
  description: 'ms since the epoch (cluster time), ISO 8601, or a time before now: "1d"',
});

/** Text on one line. */
export const line = (most: number) => lineSchema(most).meta({ type: 'string', maxLength: most, pattern: ONE_LINE });

export const text = (most: number) =>
  z
    .string({ error: ({ input }) => `${show(input)} is not text` })
    .max(most, { error: `is longer than ${most} characters` });

/** Compiles a pattern that {@link names} has checked. */
export function matcherOf(names: string | undefined): (name: string) => boolean {
  const compiled = compilePattern(names ?? '.*');
  return typeof compiled === 'string' ? () => false : compiled;
}

/** A pattern. The check of a request compiles it after all else was found right: see {@link isPatternField}. */
function patternField(meta: typeof patternMeta) {
  const field = patternTextSchema.meta(meta);
  patternFields.add(field);
  return field;
}

/** Whether a schema is that of a pattern, which was not compiled yet. */
export function isPatternField(schema: z.ZodType): boolean {
  return patternFields.has(schema);
}

function positive(what: string) {
  return z
    .int({ error: ({ input }) => `${show(input)} is not ${what}` })
    .min(1, { error: ({ input }) => `${show(input)} is not ${what}` });
}
