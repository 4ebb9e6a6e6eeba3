import { z } from 'zod';
import { type DurationInput, readDuration, readKeeping } from './duration.js';
import { show } from './texts/show.js';
import { InvalidOptionsError } from './invalid-options.error.js';
import { isLongerThan, lineFault } from './texts/one-line.js';
import { faultsOf, onlyFields } from './only-fields.js';
import { patternFault } from './patterns/pattern.js';
import { LONGEST_NAME, lengthFault } from './patterns/pattern-cost.js';
import type { SemaphoreDefinition } from './answers.js';

/** One record contains all permits of a semaphore. With more permits, each write would be too large. */
export const MOST_PERMITS = 1000;

/**
 * A definition as people write it. Only `name` and `duration` are required. The default is one permit, for all nodes.
 */
export interface SemaphoreDefinitionInput {
  /** 1 to 200 characters on one line. */
  readonly name: string;
  /** RE2; must match the node's whole group. Default: every group. */
  readonly groupPattern?: string;
  /** RE2; must match the acquirer's whole name. Default: every acquirer. */
  readonly acquirerPattern?: string;
  /** 0 to 1,000. Default 1. */
  readonly permits?: number;
  /** ms, or text ("5m", "PT5M"). */
  readonly duration: DurationInput;
}

/** A definition of code, with a fingerprint of its content. */
export interface CodeDefinition {
  readonly definition: SemaphoreDefinition;
  /** {@link FINGERPRINT_LENGTH} characters of base64url. */
  readonly fingerprint: string;
}

/** Characters of 6 bits each. 60 bits tell versions of a definition apart, but don't prevent forgery. */
export const FINGERPRINT_LENGTH = 10;

const FIELDS = ['name', 'groupPattern', 'acquirerPattern', 'permits', 'duration'] as const;

/** The fields in which two definitions differ. */
export function differingFields(one: SemaphoreDefinition, other: SemaphoreDefinition): (keyof SemaphoreDefinition)[] {
  return FIELDS.filter((field) => one[field] !== other[field]);
}

/** Whether two definitions have the same content. */
export function sameDefinition(one: SemaphoreDefinition, other: SemaphoreDefinition): boolean {
  return differingFields(one, other).length === 0;
}

/** A zod type of a number. `read` returns the number, or a sentence that says what is wrong with the value. */
export function numberReadBy(read: (value: unknown) => number | string) {
  return z.unknown().transform((value, context) => {
    const result = read(value);
    if (typeof result === 'number') return result;
    context.addIssue({ code: 'custom', message: result });
    return z.NEVER;
  });
}

/** zod type of a duration: accepts numbers and text, returns ms. */
export const durationSchema = numberReadBy(readDuration);

/** zod type of the time for which something is kept: up to ten years. Outputs ms. */
export const keepingSchema = numberReadBy(readKeeping);

/** zod type of the name of a semaphore, group or acquirer. */
export const nameSchema = checked<string>(nameFault);

/**
 * Checks the name of a semaphore.
 *
 * @returns the name
 * @throws InvalidOptionsError
 */
export function checkedName(name: string): string {
  const fault = nameFault(name);
  if (fault !== undefined) throw new InvalidOptionsError("a semaphore's name", [fault]);
  return name;
}

/** A zod type that accepts a value unchanged unless `faultOf` finds a fault: a sentence without the field's name. */
function checked<T>(faultOf: (value: unknown) => string | undefined): z.ZodType<T, T> {
  return z.custom<T>((value) => faultOf(value) === undefined, { error: ({ input }) => faultOf(input) });
}

function nameFault(value: unknown): string | undefined {
  if (typeof value !== 'string') return `${show(value)} is not text`;
  if (value === '') return 'is empty: give it a name';
  if (isLongerThan(value, LONGEST_NAME)) return `${show(value)} is longer than ${LONGEST_NAME} characters`;
  return lineFault(value);
}

/** In a URL "." and ".." mean folders, even if they are encoded: a browser could not request such a name. */
function newNameFault(value: unknown): string | undefined {
  if (value !== '.' && value !== '..') return nameFault(value);
  return `${show(value)} can't stand in a URL: give it another name`;
}

function faultOfPattern(value: unknown): string | undefined {
  return faultOfPatternText(value) ?? patternFault(value as string);
}

function faultOfPatternText(value: unknown): string | undefined {
  if (typeof value !== 'string') return `${show(value)} is not text`;
  return lengthFault(value) ?? lineFault(value);
}

function permitsFault(value: unknown): string | undefined {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MOST_PERMITS) return undefined;
  return `${show(value)} is not a whole number from 0 (paused) to ${MOST_PERMITS}`;
}

/** zod type of an RE2 pattern that must match a whole name. */
export const patternSchema = checked<string>(faultOfPattern);

/** zod type of the text of a pattern that is not compiled yet: to compile one takes ms. */
export const patternTextSchema = checked<string>(faultOfPatternText);

/** zod type of a definition as people write it. */
export const definitionSchema = onlyFields({
  name: checked<string>(newNameFault),
  groupPattern: patternSchema.default('.*'),
  acquirerPattern: patternSchema.default('.*'),
  permits: checked<number>(permitsFault).default(1),
  duration: durationSchema,
});

/**
 * Checks a definition and fills in the defaults.
 *
 * @param clockTolerance ms; the duration must be more than three times as long
 * @throws InvalidOptionsError listing every fault with its field and value
 */
export function parseDefinition(input: unknown, clockTolerance: number): SemaphoreDefinition {
  const parsed = definitionSchema.safeParse(input);
  const subject = `semaphore ${show((input as { name?: unknown } | undefined)?.name)}`;
  if (!parsed.success) throw new InvalidOptionsError(subject, faultsOf(parsed.error));
  const fault = durationFault(parsed.data.duration, clockTolerance);
  if (fault) throw new InvalidOptionsError(subject, [fault]);
  return Object.freeze(parsed.data);
}

/** The shortest duration of a permit, in ms, if clocks may differ by `clockTolerance` ms. */
export function shortestDuration(clockTolerance: number): number {
  return 3 * clockTolerance + 1;
}

/**
 * The duration to ask for, in ms; undefined: the definition's. A node with a smaller `clockTolerance` may have made a
 * definition that is too short for this node. With that duration the permit would end before its holder could use it.
 */
export function usableDuration(
  duration: number | undefined,
  definition: Pick<SemaphoreDefinition, 'duration'> | undefined,
  clockTolerance: number,
): number | undefined {
  const shortest = shortestDuration(clockTolerance);
  return duration ?? (definition && definition.duration < shortest ? shortest : undefined);
}

/**
 * The fault of a duration that is too short, in a sentence. A holder stops `clockTolerance` before its lease ends, and
 * a taker waits `clockTolerance` after that end. So a shorter lease would leave too little time for work.
 */
export function durationFault(duration: number, clockTolerance: number): string | undefined {
  if (duration > 3 * clockTolerance) return undefined;
  return `duration: ${duration} ms must be more than 3 x clockTolerance (${clockTolerance} ms): give a longer duration, or a smaller clockTolerance`;
}
