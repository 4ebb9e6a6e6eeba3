import { InvalidArgumentError, Option } from 'commander';
import { type NameMatcher, compilePattern, faultsOf, patternSchema, readDuration } from '../decision/index.js';

/** Reads a duration such as "30s"; a bare number is ms. @returns ms */
export function readSpan(text: string): number {
  const read = readDuration(/^\d+$/.test(text) ? Number(text) : text);
  if (typeof read === 'string') throw new InvalidArgumentError(`${read}.`);
  return read;
}

/** Reads a time. @returns ms since the epoch; negative: ms from now, for a duration such as "1d" */
export function readTime(text: string): number {
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : NaN;
  if (!Number.isNaN(time)) return time;
  const ago = readDuration(text);
  if (typeof ago === 'string') throw new InvalidArgumentError('Give a time before now such as "1d", or a date.');
  return -ago;
}

/** Returns a reader of whole numbers of at least `least`. */
export function wholeNumber(least: number) {
  return (text: string): number => {
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    if (!Number.isSafeInteger(value) || value < least) {
      throw new InvalidArgumentError(`Give a whole number, ${least} or more.`);
    }
    return value;
  };
}

/** Checks an RE2 pattern, and returns it unchanged. */
export function readPattern(text: string): string {
  const { error } = patternSchema.safeParse(text);
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

export const limitOption = () =>
  new Option('--limit <n>', 'maximum number of entries').argParser(wholeNumber(1)).default(50);
