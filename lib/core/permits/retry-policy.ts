import { z } from 'zod';
import type { Backoff } from '../async/backoff.js';
import { onlyFields, readDelay, show } from '../decision/index.js';
import { wholeSchema } from '../decision/option-types.js';

/** How a failed run is tried again, while its permit is held. */
export interface RunRetry {
  /** Attempts in all, the first one included: 2 to 20. */
  readonly attempts: number;
  /**
   * Pause before each further attempt, at most 1h. A duration, ms or text ("10s"): always that long. Or the first pause
   * and the longest one: each is twice as long as the one before, and up to half of it is left out at random. Default
   * `{ first: '1s', longest: '1m' }`.
   */
  readonly backoff?: number | string | RunBackoff;
  /**
   * Whether a failed run is tried again after this error. If it throws or rejects, the run is not tried again. Default: always.
   */
  readonly retryIf?: (error: unknown) => boolean | Promise<boolean>;
}

/** Pauses that grow. */
export interface RunBackoff {
  /** Pause after the first failed attempt, ms or text. Default 1s. */
  readonly first?: number | string;
  /** Longest pause, ms or text. Default 1m, or `first` if that is longer. */
  readonly longest?: number | string;
}

/** {@link RunRetry} after the check. */
export interface RetryPolicy {
  readonly attempts: number;
  readonly backoff: Backoff;
  readonly retryIf?: ((error: unknown) => boolean | Promise<boolean>) | undefined;
}

const MOST_ATTEMPTS = 20;
/** ms. The permit is held meanwhile, so no other node can run the job. */
const LONGEST_PAUSE = 3_600_000;
const FIRST = 1000;
const LONGEST = 60_000;
const JITTER = 0.5;

const pauseSchema = z.unknown().transform((value, context): number => {
  const read = readDelay(value);
  if (typeof read === 'number' && read <= LONGEST_PAUSE) return read;
  const message = typeof read === 'string' ? read : `${show(value)} is longer than 1h: the permit is held meanwhile`;
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

const constantSchema = pauseSchema.transform((pause): Backoff => ({ first: pause, longest: pause, jitter: 0 }));

const growingSchema = onlyFields({ first: pauseSchema.default(FIRST), longest: pauseSchema.optional() }).transform(
  ({ first, longest = Math.max(first, LONGEST) }, context): Backoff => {
    if (longest >= first) return { first, longest, jitter: JITTER };
    const message = `${longest} ms is shorter than the first pause, ${first} ms`;
    context.addIssue({ code: 'custom', path: ['longest'], message });
    return z.NEVER;
  },
);

const backoffSchema = z.unknown().transform((value, context): Backoff => {
  const schema: z.ZodType<Backoff> = typeof value === 'object' && value !== null ? growingSchema : constantSchema;
  const { data, error } = schema.safeParse(value);
  if (data) return data;
  for (const { path, message } of error!.issues) context.addIssue({ code: 'custom', path, message });
  return z.NEVER;
});

/** zod type of {@link RunRetry}. */
export const retrySchema = onlyFields({
  attempts: wholeSchema(2, MOST_ATTEMPTS),
  backoff: backoffSchema.default({ first: FIRST, longest: LONGEST, jitter: JITTER }),
  retryIf: z
    .custom<(error: unknown) => boolean | Promise<boolean>>((value) => typeof value === 'function', {
      error: ({ input }) => `${show(input)} is not a function`,
    })
    .optional(),
});
