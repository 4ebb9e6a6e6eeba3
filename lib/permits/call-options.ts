import { z } from 'zod';
import { InvalidOptionsError, durationSchema, faultsOf, nameSchema, show, onlyFields } from '../decision/index.js';
import { choiceSchema, delaySchema, switchSchema } from '../decision/option-types.js';
import type { SkipReason } from '../context/events.js';

/* Options as callers give them, and as they are once they were checked: every duration in ms. */

/** Options of `tryAcquire`. Durations are ms, or text as the `ms` package reads it. */
export interface AcquireOptions {
  /** Holds another permit than the rest of this process: name a holder for each. */
  readonly holder?: string;
  /** For the acquirer pattern, in place of the node's own name. */
  readonly acquirer?: string;
  /**
   * How long the permit lasts, also after each refresh, whatever the definition says; the definition's duration unless
   * given. Of several uses that share a permit the longest counts. When an operator edits the definition to a shorter
   * duration, that counts from the next refresh on. If no code and no operator defined the semaphore, it stands for the
   * definition while a permit exists, and is 15 minutes at most: a longer one throws InvalidOptionsError.
   */
  readonly duration?: number | string;
  /** Refreshes the permit until it is released (default false: it lasts for its duration, unless extended). */
  readonly keepAlive?: boolean;
}

/** Options of `acquire`. */
export interface AcquireWaitOptions extends AcquireOptions {
  /** How long to wait; without a limit unless given. */
  readonly timeout?: number | string;
  /** Gives up when it aborts. */
  readonly signal?: AbortSignal;
}

/** Options of `run` and of `@ClusterSingleton`. */
export interface RunOptions extends Pick<AcquireOptions, 'holder' | 'acquirer' | 'duration'> {
  /** Names the run in events, and tells overlapping runs apart; the semaphore's name unless given. */
  readonly job?: string;
  /**
   * Releases the permit after the run, but not before this long after the run's start (ShedLock's lockAtLeastFor).
   * Absent: the permit is kept until it expires, so that a node whose clock is late finds it taken. 0: released at once,
   * which is the default of a run that waits (`wait`).
   */
  readonly atLeastFor?: number | string;
  /** Refreshes the permit every third of its duration while the run goes on. Default true. */
  readonly keepAlive?: boolean;
  /** A run that takes longer loses its permit: its signal aborts, and the permit runs out. Never unless given. */
  readonly maxRunTime?: number | string;
  /** When the former run of this job in this process still goes on: skip (default), or run beside it. */
  readonly overlap?: 'skip' | 'allow';
  /** When the store can't be asked: skip (default), or run without a permit. */
  readonly onUnavailable?: 'skip' | 'run';
  /**
   * `'throw'`: a skipped run throws a RunSkippedError, so that a queue delivers its message again. Or a callback that gets
   * the reason; when it throws, a `problem` event tells of it, and the run counts as skipped. Unless given, a run is
   * skipped quietly.
   */
  readonly onSkip?: ((skipped: Skipped) => void | Promise<void>) | 'throw';
  /**
   * How long to wait for a permit before the run is skipped with the last denial's reason; 0, or absent: it does not wait.
   * Unless `overlap` is `'allow'` it also waits for the former run of this job in this process, and is skipped with
   * `overlap` when that does not end in time. A run that waits releases its permit at once, unless `atLeastFor` is given.
   */
  readonly wait?: number | string;
}

/** Options of `ready`. */
export interface ReadyOptions {
  /** How long to wait. Default 30s. */
  readonly timeout?: number | string;
}

/** Options of one attempt to get a permit. */
export interface AttemptOptions {
  /** Several permits of one semaphore in one process: name a holder for each. The process itself unless given. */
  readonly holder?: string;
  /** For the acquirer pattern; the node's own unless given. */
  readonly acquirer?: string;
  /** ms; the definition's unless given. */
  readonly duration?: number;
  readonly keepAlive?: boolean;
}

/** Options of a wait for a permit. */
export interface WaitOptions extends AttemptOptions {
  /** ms; without a limit unless given. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

/** A run that did not take place, and why. */
export interface Skipped {
  /** Name of the semaphore. */
  readonly semaphore: string;
  /** Name of the job. */
  readonly job: string;
  /** Why it was skipped. */
  readonly reason: SkipReason;
}

export type SkipCallback = (skipped: Skipped) => void | Promise<void>;

/** Options of a run as they are carried out; durations in ms. */
export interface RunSettings extends Pick<AttemptOptions, 'holder' | 'acquirer' | 'duration'> {
  /** Names the run in events and history, and tells overlapping runs apart. */
  readonly job: string;
  /** ms after the run's start before which the permit is not released; undefined: it is kept until it expires. */
  readonly atLeastFor?: number;
  readonly keepAlive: boolean;
  /** ms after which a run loses its permit; undefined: never. */
  readonly maxRunTime?: number;
  readonly overlap: 'skip' | 'allow';
  readonly onUnavailable: 'skip' | 'run';
  readonly onSkip?: SkipCallback | 'throw';
  /** ms to wait for a permit, and for a former run of the job to end; undefined: it does not wait. */
  readonly wait?: number;
}

const NO_OPTIONS: AttemptOptions = { keepAlive: false };

const acquireShape = {
  holder: nameSchema.optional(),
  acquirer: nameSchema.optional(),
  duration: durationSchema.optional(),
};

const acquireSchema = onlyFields({ ...acquireShape, keepAlive: switchSchema.default(false) });

const waitSchema = acquireSchema.extend({
  timeout: delaySchema.optional(),
  signal: z.instanceof(AbortSignal, { error: ({ input }) => `${show(input)} is not an AbortSignal` }).optional(),
});

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
