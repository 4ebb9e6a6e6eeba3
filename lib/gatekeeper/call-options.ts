import { z } from 'zod';
import { InvalidOptionsError, durationSchema, faultsOf, nameSchema, readDuration, show } from '../semaphores/index.js';
import type { AttemptOptions } from './holdings.js';
import type { RunSettings, Skipped } from './runner.js';
import type { WaitOptions } from './waiting-line.js';

/** Options of `tryAcquire`. Durations are ms, or text as the `ms` package reads it. */
export interface AcquireOptions {
  /** Holds another permit than the rest of this process: name a holder for each. */
  readonly holder?: string;
  /** For the acquirer pattern, in place of the node's own name. */
  readonly acquirer?: string;
  /** How long the permit lasts; the definition's duration unless given. Without a definition it makes one. */
  readonly duration?: number | string;
  /** Refreshes the permit until it is released (default false: it lasts for its duration, unless extended). */
  readonly keepAlive?: boolean;
}

/** Options of `acquire`. */
export interface AcquireWaitOptions extends AcquireOptions {
  /** How long to wait; for ever unless given. */
  readonly timeout?: number | string;
  /** Gives up when it aborts. */
  readonly signal?: AbortSignal;
}

/** Options of `run` and of `@ClusterSingleton`. */
export interface RunOptions extends Pick<AcquireOptions, 'holder' | 'acquirer' | 'duration'> {
  /** Names the run in events, and tells overlapping runs apart; the semaphore's name unless given. */
  readonly task?: string;
  /**
   * true (default): the permit is kept after the run until it expires, so that a node whose clock is late finds it
   * taken. false: it is released after the run, but not before `atLeastFor`.
   */
  readonly hold?: boolean;
  /** With `hold: false`: how long after the run's start the permit is kept at least. Default 0. */
  readonly atLeastFor?: number | string;
  /** Refreshes the permit every third of its duration while the run goes on. Default true. */
  readonly keepAlive?: boolean;
  /** A run that takes longer loses its permit: its signal aborts, and the permit runs out. Never unless given. */
  readonly maxHold?: number | string;
  /** When the former run of this task in this process still goes on: skip (default), or run beside it. */
  readonly overlap?: 'skip' | 'allow';
  /** When the store can't be asked: skip (default), or run without a permit. */
  readonly onUnavailable?: 'skip' | 'run';
  /** Told why a run did not take place. */
  readonly onSkip?: (skipped: Skipped) => void;
}

const acquireShape = {
  holder: nameSchema.optional(),
  acquirer: nameSchema.optional(),
  duration: durationSchema.optional(),
};

const waitOrNothing = z.unknown().transform((value, context) => {
  if (value === 0) return 0;
  const read = readDuration(value);
  if (typeof read === 'number') return read;
  context.addIssue({ code: 'custom', message: read });
  return z.NEVER;
});

const acquireSchema = z.strictObject({ ...acquireShape, keepAlive: z.boolean().default(false) });

const waitSchema = acquireSchema.extend({
  timeout: waitOrNothing.optional(),
  signal: z.instanceof(AbortSignal).optional(),
});

const runSchema = z.strictObject({
  ...acquireShape,
  task: nameSchema.optional(),
  hold: z.boolean().default(true),
  atLeastFor: waitOrNothing.default(0),
  keepAlive: z.boolean().default(true),
  maxHold: durationSchema.optional(),
  overlap: z.enum(['skip', 'allow']).default('skip'),
  onUnavailable: z.enum(['skip', 'run']).default('skip'),
  onSkip: z.custom<(skipped: Skipped) => void>((value) => typeof value === 'function', 'is not a function').optional(),
});

/** @throws InvalidOptionsError */
export function parseAcquireOptions(semaphore: string, options: AcquireOptions = {}): AttemptOptions {
  return parse(acquireSchema, `options for semaphore ${show(semaphore)}`, options);
}

/** @throws InvalidOptionsError */
export function parseWaitOptions(semaphore: string, options: AcquireWaitOptions = {}): WaitOptions {
  return parse(waitSchema, `options for semaphore ${show(semaphore)}`, options);
}

/** @throws InvalidOptionsError */
export function parseRunOptions(semaphore: string, options: RunOptions = {}): RunSettings {
  const settings = parse(runSchema, `options for semaphore ${show(semaphore)}`, options);
  return { ...settings, task: settings.task ?? semaphore };
}

function parse<S extends z.ZodType>(schema: S, subject: string, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new InvalidOptionsError(subject, faultsOf(parsed.error));
  return parsed.data;
}
