import { z } from 'zod';
import { InvalidOptionsError, durationSchema, faultsOf, nameSchema, show, onlyFields } from '../decision/index.js';
import { choiceSchema, delaySchema, switchSchema } from '../decision/option-types.js';
import type { SkipReason } from '../context/events.js';
import type { RequestedRun } from './requested-run.js';
import { type RetryPolicy, type RunRetry, retrySchema } from './retry-policy.js';

/* Options as callers give them, and the same options after the check, with every duration in ms. */

/** Options of `tryAcquire`. Durations are ms, or text ("5m", "PT5M"). */
export interface AcquireOptions {
  /**
   * Name of the holder, to hold several permits in one process: each holder has its own. All calls without one share that
   * of the process.
   *
   * @defaultValue the process itself
   */
  readonly holder?: string;
  /**
   * Name that the acquirer pattern must match.
   *
   * @defaultValue the node's own name
   */
  readonly acquirer?: string;
  /**
   * How long the permit lasts, also after each refresh: see docs/options.md#which-duration-counts. If several uses
   * share a permit, the longest duration counts. If an operator then edits the definition to a shorter duration, that
   * one counts from the next refresh on. If neither code nor an operator defined the semaphore, this duration makes a
   * definition that exists as long as a permit does. Then 15 minutes is the maximum: a longer one throws
   * InvalidOptionsError.
   *
   * @defaultValue the definition's duration
   */
  readonly duration?: number | string;
  /**
   * Refreshes the permit until it is released. If false, the permit lasts for its duration, unless extended.
   *
   * @defaultValue false
   */
  readonly keepAlive?: boolean;
}

/** Options of `acquire`. */
export interface AcquireWaitOptions extends AcquireOptions {
  /** How long to wait. Default: no limit. */
  readonly timeout?: number | string;
  /** The call gives up when this signal aborts. */
  readonly signal?: AbortSignal;
}

/** Options of `run` and of `@ClusterSingleton`. */
export interface RunOptions extends Pick<AcquireOptions, 'holder' | 'acquirer' | 'duration'> {
  /**
   * Name of the job in events, history and "run now". Runs of the same job count as overlapping.
   *
   * @defaultValue the semaphore's name; with `@ClusterSingleton` class and method
   */
  readonly job?: string;
  /**
   * Shortest time from the run's start to the release of the permit (ShedLock's lockAtLeastFor). Without it, the permit
   * is kept until it expires, so that a node whose clock is late finds it taken. 0: the permit is released when the run
   * ends.
   *
   * @defaultValue none; with `wait` 0
   */
  readonly atLeastFor?: number | string;
  /**
   * Refreshes the permit every third of its duration during the run.
   *
   * @defaultValue true
   */
  readonly keepAlive?: boolean;
  /**
   * A run that takes longer loses its permit: its signal aborts, and the permit expires.
   *
   * @defaultValue no limit
   */
  readonly maxRunTime?: number | string;
  /**
   * If the former run of this job in this process has not ended: `skip` (with `wait`: wait for its end; a run that
   * calls its own job does not wait: `own-run`), or `allow` both runs.
   *
   * @defaultValue `skip`
   */
  readonly overlap?: 'skip' | 'allow';
  /**
   * If the store can't be asked: `skip`, or `run` without a permit (`token` is 0, `assertHeld` throws).
   *
   * @defaultValue `skip`
   */
  readonly onUnavailable?: 'skip' | 'run';
  /**
   * `'throw'`: a skipped run throws a RunSkippedError, so that a queue delivers its message again. Or a callback that
   * gets `{ semaphore, job, reason }`. If the callback throws, a `problem` event reports the error, and the run still
   * counts as skipped.
   *
   * @defaultValue a skipped run only makes an event
   */
  readonly onSkip?: ((skipped: Skipped) => void | Promise<void>) | 'throw';
  /**
   * How long to wait for a permit. After that the run is skipped with the last denial's reason. Unless `overlap` is
   * `'allow'`, the run also waits for the former run of this job in this process. If that does not end in time, the run
   * is skipped with the reason `overlap`. A run that waits releases its permit when it ends, unless `atLeastFor` is
   * given.
   *
   * @defaultValue 0: it does not wait
   */
  readonly wait?: number | string;
  /**
   * How a failed run is tried again, for example `{ attempts: 3, backoff: '10s' }`. The permit is held all the while,
   * and `maxRunTime` limits all attempts together. No attempt begins after the permit was lost, while the semaphore is
   * paused or no longer matches this node, or while this node shuts down.
   *
   * @defaultValue a failed run is not tried again
   */
  readonly retry?: RunRetry;
}

/** Options of `ready`. */
export interface ReadyOptions {
  /** How long to wait. Default 30s. */
  readonly timeout?: number | string;
}

/** Options of one attempt to get a permit. */
export interface AttemptOptions {
  /**
   * Name of the holder, to hold several permits in one process: each holder has its own. Default: the process itself.
   */
  readonly holder?: string;
  /** Name that the acquirer pattern must match. Default: the node's own name. */
  readonly acquirer?: string;
  /** ms. Default: the definition's duration. */
  readonly duration?: number;
  readonly keepAlive?: boolean;
}

/** Options of a wait for a permit. */
export interface WaitOptions extends AttemptOptions {
  /** ms. Default: no limit. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

/** A skipped run. */
export interface Skipped {
  /** Name of the semaphore. */
  readonly semaphore: string;
  /** Name of the job. */
  readonly job: string;
  /** Why it was skipped. */
  readonly reason: SkipReason;
}

export type SkipCallback = (skipped: Skipped) => void | Promise<void>;

/** Options of a run after the check; durations in ms. */
export interface RunSettings extends Pick<AttemptOptions, 'holder' | 'acquirer' | 'duration'> {
  /** Name of the job in events and history. Runs of the same job count as overlapping. */
  readonly job: string;
  /** Shortest time from the run's start to the release, in ms. Undefined: the permit is kept until it expires. */
  readonly atLeastFor?: number;
  readonly keepAlive: boolean;
  /** ms after which a run loses its permit. Undefined: no limit. */
  readonly maxRunTime?: number;
  readonly overlap: 'skip' | 'allow';
  readonly onUnavailable: 'skip' | 'run';
  readonly onSkip?: SkipCallback | 'throw';
  /** ms to wait for a permit, and for the former run of the job to end. Undefined: the run does not wait. */
  readonly wait?: number;
  /** Undefined: a failed run is not tried again. */
  readonly retry?: RetryPolicy;
  /** The request that this run answers. Undefined: the scheduler or the application has started it. */
  readonly request?: RequestedRun;
}

const NO_OPTIONS: AttemptOptions = { keepAlive: false };

const acquireShape = {
  holder: nameSchema.optional(),
  acquirer: nameSchema.optional(),
  duration: durationSchema.optional(),
};

const acquireSchema = onlyFields({ ...acquireShape, keepAlive: switchSchema.default(false) });

/** zod type of an AbortSignal. */
export const signalSchema = z.instanceof(AbortSignal, { error: ({ input }) => `${show(input)} is not an AbortSignal` });

const waitSchema = acquireSchema.extend({ timeout: delaySchema.optional(), signal: signalSchema.optional() });

const runSchema = onlyFields({
  ...acquireShape,
  job: nameSchema.optional(),
  atLeastFor: delaySchema.optional(),
  keepAlive: switchSchema.default(true),
  maxRunTime: durationSchema.optional(),
  overlap: choiceSchema(['skip', 'allow']).default('skip'),
  onUnavailable: choiceSchema(['skip', 'run']).default('skip'),
  onSkip: z
    .custom<SkipCallback | 'throw'>((value) => typeof value === 'function' || value === 'throw', {
      error: ({ input }) => `${show(input)} is not a function or "throw"`,
    })
    .optional(),
  wait: delaySchema.optional(),
  retry: retrySchema.optional(),
});

const readySchema = onlyFields({ timeout: delaySchema.default(30_000) });

/** @throws InvalidOptionsError */
export function parseReadyOptions(options: ReadyOptions = {}): z.output<typeof readySchema> {
  const parsed = readySchema.safeParse(options);
  if (!parsed.success) throw new InvalidOptionsError('options of ready()', faultsOf(parsed.error));
  return parsed.data;
}

/** @throws InvalidOptionsError */
export function parseAcquireOptions(semaphore: string, options?: AcquireOptions): AttemptOptions {
  if (options === undefined) return NO_OPTIONS;
  return parse(acquireSchema, semaphore, options);
}

/** @throws InvalidOptionsError */
export function parseWaitOptions(semaphore: string, options: AcquireWaitOptions = {}): WaitOptions {
  return parse(waitSchema, semaphore, options);
}

/** @throws InvalidOptionsError */
export function parseRunOptions(semaphore: string, options: RunOptions = {}): RunSettings {
  const { wait, ...settings } = parse(runSchema, semaphore, options);
  const waiting = wait && { wait, atLeastFor: settings.atLeastFor ?? 0 };
  return { ...settings, ...waiting, job: settings.job ?? semaphore };
}

function parse<S extends z.ZodType>(schema: S, semaphore: string, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (!parsed.success)
    throw new InvalidOptionsError(`options for semaphore ${show(semaphore)}`, faultsOf(parsed.error));
  return parsed.data;
}
