import { InvalidArgumentError, Option } from 'commander';
import { type NameMatcher, compilePattern, faultsOf, patternSchema, readDuration } from '../decision/index.js';

/** ms of a duration such as "30s". Bare numbers are ms. */
export function readSpan(text: string): number {
  const read = readDuration(/^\d+$/.test(text) ? Number(text) : text);
  if (typeof read === 'string') throw new InvalidArgumentError(`${read}.`);
  return read;
}

/** A whole number of at least `least`. */
export function wholeNumber(least: number) {
  return (text: string): number => {
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    if (!Number.isSafeInteger(value) || value < least) {
      throw new InvalidArgumentError(`Give a whole number, ${least} or more.`);
    }
    return value;
  };
}

/** An RE2 pattern, as it was given. */
export function readPattern(text: string): string {
  const { error } = patternSchema.safeParse(text);
  if (error) throw new InvalidArgumentError(`${faultsOf(error).join('; ')}.`);
  return text;
}

/** Whether a name matches as a whole; without a pattern every name does. */
export function patternMatcher(pattern: string | undefined): NameMatcher {
  const matcher = compilePattern(pattern ?? '.*');
  if (typeof matcher === 'string') throw new InvalidArgumentError(`${matcher}.`);
  return matcher;
}

/** A new option for each command, because commander stores the given value in it. */
export const reasonOption = () => new Option('--reason <text>', 'why; shown to all users');

export const revisionOption = () =>
  new Option('--expected-revision <n>', 'refuse if it was changed since this revision').argParser(wholeNumber(1));

export const limitOption = () =>
  new Option('--limit <n>', 'how many of the newest').argParser(wholeNumber(1)).default(50);
