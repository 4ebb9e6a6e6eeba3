import { InvalidArgumentError, Option } from 'commander';
import type { z } from 'zod';
import {
  type NameMatcher,
  compilePattern,
  faultsOf,
  isLongerThan,
  nameSchema,
  patternSchema,
  readDuration,
} from '../../core/decision/index.js';
import { LONGEST_SOUGHT, MOST_SHOWN } from '../../console/api/limits.js';
import { entryIdSchema } from '../../operate/definitions/bulk-request.js';
import { typeFaults } from '../../tasks/index.js';

/* The console checks what it gets. These readers check the same, so that both ways to a cluster refuse the same calls. */

/** Reads a duration such as "30s"; a bare number is ms. @returns ms */
export function readSpan(text: string): number {
  const read = readDuration(/^\d+$/.test(text) ? Number(text) : text);
  if (typeof read === 'string') throw new InvalidArgumentError(`${read}.`);
  return read;
}

/** Reads a time. @returns ms since the epoch; negative: ms from now, for a duration such as "1d" */
export function readTime(text: string): number {
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : NaN;
  // Nothing is older than 1970, and a negative number would be a time before now.
  if (!Number.isNaN(time)) return Math.max(0, time);
  const ago = readDuration(text);
  if (typeof ago === 'string') throw new InvalidArgumentError('Give a time before now such as "1d", or a date.');
  return -ago;
}

/** Returns a reader of whole numbers of at least `least`. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER) {
  const range = most === Number.MAX_SAFE_INTEGER ? `, ${least} or more` : ` from ${least} to ${most}`;
  return (text: string): number => {
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    if (!Number.isSafeInteger(value) || value < least || value > most) {
      throw new InvalidArgumentError(`Give a whole number${range}.`);
    }
    return value;
  };
}

/** Checks an RE2 pattern, and returns it unchanged. */
export const readPattern = (text: string): string => checked(text, patternSchema);

/** Checks the name of a semaphore or window, and returns it unchanged. */
export const readName = (text: string): string => checked(text, nameSchema);

/** Checks the id of an entry of the audit log, and returns it unchanged. */
export const readEntryId = (text: string): string => checked(text, entryIdSchema);

/** Checks a type of tasks, and returns it unchanged. */
export function readTaskType(text: string): string {
  const [fault] = typeFaults(text);
  if (fault !== undefined) throw new InvalidArgumentError(`${fault}.`);
  return text;
}

/** Checks the length of a name to look for, and returns it unchanged. */
export function readSought(text: string): string {
  if (isLongerThan(text, LONGEST_SOUGHT)) throw new InvalidArgumentError(`Give ${LONGEST_SOUGHT} characters or less.`);
  return text;
}

/** @throws InvalidArgumentError */
function checked(text: string, schema: z.ZodType): string {
  const { error } = schema.safeParse(text);
  if (error) throw new InvalidArgumentError(`${faultsOf(error).join('; ')}.`);
  return text;
}

/** Returns a matcher of whole names. Without a pattern it matches every name. */
export function patternMatcher(pattern: string | undefined): NameMatcher {
  const matcher = compilePattern(pattern ?? '.*');
  if (typeof matcher === 'string') throw new InvalidArgumentError(`${matcher}.`);
  return matcher;
}

/** Makes a new option for each command, because commander stores the value in the option. */
export const reasonOption = () => new Option('--reason <text>', 'why; shown to all users');

export const revisionOption = () =>
  new Option('--expected-revision <n>', 'refuse the change if the definition has another revision now').argParser(
    wholeNumber(1),
  );

/** @param most undefined: as many as wanted */
export const limitOption = (most?: number) =>
  new Option('--limit <n>', 'maximum number of entries').argParser(wholeNumber(1, most)).default(50);

/** Limits the entries of a journal. */
export const entriesOption = () => limitOption(MOST_SHOWN);
