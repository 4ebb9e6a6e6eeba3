import { z } from 'zod';
import {
  InvalidOptionsError,
  faultsOf,
  numberReadBy,
  onlyFields,
  readDelay,
  readDuration,
  show,
  storedTime,
} from '../../core/decision/index.js';
import { choiceSchema, switchSchema, wholeSchema } from '../../core/decision/option-types.js';
import { PRIORITIES, type Priority, type TaskLimits, USUAL_LIMITS } from './task.js';
import type { TaskTarget } from './task-parts.js';
import { addressSchema } from './target.js';

/** When the same id counts as known: while the task has not ended, or as long as it is remembered. */
export type Dedup = 'unfinished' | 'retained';

/** A task or a group for whose end another task waits: a name, or an id. */
export type AwaitedName =
  | string
  | {
      /** Name of the type. */
      readonly type: string;
      /** Id of the task or group in the whole cluster. */
      readonly id: string;
      /** Of a member of a group. */
      readonly member?: {
        /** Name of the group. */
        readonly group: string;
        /** Number of the member, from 1. */
        readonly number: number;
      };
      /** Of a group. */
      readonly group?: string;
    };

/** Options of a submission. Durations are ms, or text ("5m"). */
export interface SubmitOptions {
  /**
   * `'high'`, `'normal'` or `'low'`: tasks of a higher priority usually run first; no strict order is promised.
   *
   * @defaultValue `'normal'`
   */
  readonly priority?: Priority;
  /**
   * When the task may run: a `Date`, or a delay from now.
   *
   * @defaultValue at once
   */
  readonly runAt?: Date | number | string;
  /**
   * Names or ids of tasks, and names of groups ({@link wholeGroup}), that must end before the task may run: at most
   * 100. They must have been submitted. In a handler, a name is that of another sub-task. See
   * docs/tasks.md#one-after-another.
   *
   * @defaultValue none
   */
  readonly after?: readonly AwaitedName[];
  /**
   * If one of `after` fails, or ends in another way without success: `'cancel'` ends the task as cancelled at once,
   * `'run'` lets it run when all have ended.
   *
   * @defaultValue `'cancel'`
   */
  readonly afterFailed?: 'cancel' | 'run';
  /**
   * Attempts that may fail before the task is given up.
   *
   * @defaultValue 5
   */
  readonly maxAttempts?: number;
  /**
   * Attempts in which the node may crash before the task is given up.
   *
   * @defaultValue 3
   */
  readonly maxCrashes?: number;
  /**
   * Pauses between failed attempts, `{ first, longest }`: the first one, doubled each time, up to the longest.
   *
   * @defaultValue 1s and 10m
   */
  readonly backoff?: {
    /** Pause after the first failed attempt, ms or text. Default 1s. */
    readonly first?: number | string;
    /** Longest pause, ms or text. Default 10m. */
    readonly longest?: number | string;
  };
  /**
   * How long a completed task is remembered, with its result.
   *
   * @defaultValue 1h
   */
  readonly retention?: number | string;
  /**
   * How long a task is remembered that did not complete, with its last error.
   *
   * @defaultValue 7d
   */
  readonly deadLetterRetention?: number | string;
  /**
   * When the same id is ignored: while the task is `'unfinished'`, or as long as it is `'retained'`. See
   * docs/tasks.md#names.
   *
   * @defaultValue `'unfinished'`
   */
  readonly dedup?: Dedup;
  /**
   * Whether the rest of its group ends at once, as cancelled, if this member of a group ends without success. Then the
   * group's handler runs. See docs/tasks.md#end-a-group.
   *
   * @defaultValue false
   */
  readonly failGroupFast?: boolean;
  /**
   * The nodes that may run the task: a pattern that the acquirer must match, or {@link TaskTarget}. It waits until such
   * a node lives. See docs/tasks.md#addressed-tasks.
   *
   * @defaultValue all nodes
   */
  readonly to?: string | TaskTarget;
  /**
   * A tenant, or another key, among which the waiting tasks of a type are taken in turn; or a function of the data that
   * returns it: 1 to 200 characters. See docs/tasks.md#fair-turns.
   *
   * @defaultValue none: the task takes no part in the turns
   */
  readonly fairKey?: string | ((data: never) => string);
  /**
   * The rule for a task of the same key that has not ended. See docs/tasks.md#unique-tasks.
   *
   * @defaultValue it stays, and this submission is ignored
   */
  readonly unique?: UniqueOptions;
  /**
   * A transaction of the application, with the store `postgres()`: the connection of `pg` on which it has called BEGIN,
   * or any object whose `query(text, values)` returns `{ rows }`. The task exists from the commit on. Only for a task
   * of its own, without `unique` and `after`. After an error, roll back. `undefined` is refused: the task would be
   * submitted outside of the transaction that the caller means. See docs/tasks.md#in-your-transaction.
   *
   * @defaultValue none
   */
  readonly tx?: TaskTransaction;
}

/** A transaction of the application; see `tx` of {@link SubmitOptions}. */
export interface TaskTransaction {
  /** Runs one statement. @param values of $1, $2, … */
  query(
    text: string,
    values?: unknown[],
  ): Promise<{
    /** The rows, each an object with a field per column. */
    readonly rows: unknown[];
  }>;
}

const DURING = ['waiting', 'unfinished'] as const;
const ON_CONFLICT = ['keep', 'replace'] as const;

/** Makes a submission and a former one of the same key one task, until the former one has ended. */
export interface UniqueOptions {
  /**
   * The key, or a function of the data that returns it. The task gets the id of `single(type, key)`. Default: the name of
   * the submission.
   */
  readonly key?: string | ((data: never) => string);
  /**
   * `unfinished`: one task of the key at most, until it has ended. `waiting`: one that waits, besides one that runs; it
   * begins when that one has ended. Default "unfinished".
   */
  readonly during?: (typeof DURING)[number];
  /** Which of two submissions counts: the former (`keep`), or the new one (`replace`). Default "keep". */
  readonly onConflict?: (typeof ON_CONFLICT)[number];
}

/** {@link UniqueOptions} without the key, which is in the name. */
export type Unique = Required<Omit<UniqueOptions, 'key'>>;

const uniqueSchema = onlyFields({
  key: z
    .custom<UniqueOptions['key']>((key) => key === undefined || typeof key === 'string' || typeof key === 'function', {
      error: ({ input }) => `${show(input)} is neither a text nor a function of the data`,
    })
    .optional(),
  during: choiceSchema(DURING).default('unfinished'),
  onConflict: choiceSchema(ON_CONFLICT).default('keep'),
});

const AFTER_FAILED = ['cancel', 'run'] as const;
/** Characters of an id. */
const LONGEST_ID = 500;
/** Tasks that one task waits for. */
const MOST_AWAITED = 100;
const DEDUPS = ['unfinished', 'retained'] as const;
/** ms; a completed task must be known for longer than a call may take. */
const SHORTEST_RETENTION = 60_000;

const durationSchema = numberReadBy(readDuration);
const retentionSchema = durationSchema.refine(
  (value) => value >= SHORTEST_RETENTION,
  `is shorter than a minute: a late answer to a submission must still find the task`,
);
const countSchema = wholeSchema(1, 1000);
const dateSchema = z.unknown().transform((value, context): Date | number => {
  if (value instanceof Date && storedTime.safeParse(value.getTime()).success) return value;
  if (value instanceof Date && !Number.isNaN(value.getTime())) {
    const message = `${value.toISOString()} is before 1970 or after the year 9999`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  }
  if (value instanceof Date) {
    context.addIssue({ code: 'custom', message: 'an Invalid Date is no time: it was made of something that is none' });
    return z.NEVER;
  }
  const delay = readDelay(value);
  if (typeof delay === 'number') return delay;
  context.addIssue({ code: 'custom', message: `${show(value)} is neither a Date nor a delay: ${delay}` });
  return z.NEVER;
});

const awaitedSchema = z.custom<AwaitedName>(isAwaitedName, {
  error: ({ input }) => `${show(input)} is neither an id nor a name: make it with single(), grouped() or wholeGroup()`,
});

const fairKeySchema = z.custom<NonNullable<SubmitOptions['fairKey']>>(
  (key) => typeof key === 'string' || typeof key === 'function',
  { error: ({ input }) => `${show(input)} is neither a text nor a function of the data` },
);

const optionsSchema = onlyFields({
  priority: choiceSchema(PRIORITIES).default('normal'),
  runAt: dateSchema.optional(),
  after: z
    .array(awaitedSchema, { error: ({ input }) => `${show(input)} is not a list of tasks` })
    .max(MOST_AWAITED, { error: `more than ${MOST_AWAITED} tasks: wait for a group` })
    .optional(),
  afterFailed: choiceSchema(AFTER_FAILED).default('cancel'),
  maxAttempts: countSchema.default(USUAL_LIMITS.maxAttempts),
  maxCrashes: countSchema.default(USUAL_LIMITS.maxCrashes),
  backoff: onlyFields({
    first: durationSchema.default(USUAL_LIMITS.backoff.first),
    longest: durationSchema.default(USUAL_LIMITS.backoff.longest),
  }).default(USUAL_LIMITS.backoff),
  retention: retentionSchema.default(USUAL_LIMITS.retention),
  deadLetterRetention: retentionSchema.default(USUAL_LIMITS.deadLetterRetention),
  dedup: choiceSchema(DEDUPS).default('unfinished'),
  failGroupFast: switchSchema.default(false),
  to: addressSchema.optional(),
  fairKey: fairKeySchema.optional(),
  unique: uniqueSchema.optional(),
  tx: z.unknown().optional(),
});

export interface ParsedSubmitOptions {
  readonly priority: Priority;
  /** A point in time, or ms from now. */
  readonly runAt?: Date | number | undefined;
  /** Not empty. */
  readonly after?: readonly AwaitedName[] | undefined;
  readonly afterFailed?: 'run';
  readonly limits: TaskLimits;
  readonly dedup: Dedup;
  readonly failGroupFast: boolean;
  readonly to?: TaskTarget;
  readonly fairKey?: NonNullable<SubmitOptions['fairKey']>;
  readonly unique?: Unique & Pick<UniqueOptions, 'key'>;
  /** Not checked. */
  readonly tx?: unknown;
}

const USUAL: ParsedSubmitOptions = {
  priority: 'normal',
  limits: USUAL_LIMITS,
  dedup: 'unfinished',
  failGroupFast: false,
};

/**
 * @param defaults options of the task's definition
 * @throws InvalidOptionsError
 */
export function parseSubmitOptions(
  id: string,
  options: SubmitOptions | undefined,
  defaults?: SubmitOptions,
): ParsedSubmitOptions {
  const given = defaults && typeof (options ?? {}) === 'object' ? { ...defaults, ...defined(options) } : options;
  if (given === undefined) return USUAL;
  const { data, error } = optionsSchema.safeParse(given);
  if (error || lacksTransaction(options)) {
    const faults = [...(error ? faultsOf(error) : []), ...(lacksTransaction(options) ? [NO_TRANSACTION] : [])];
    throw new InvalidOptionsError(`options of task ${show(id)}`, faults);
  }
  const { priority, runAt, dedup, failGroupFast, after = [], afterFailed, unique, ...others } = data;
  const { to, fairKey, tx, ...limits } = others;
  if (to && fairKey !== undefined) throw new InvalidOptionsError(`options of task ${show(id)}`, [NOT_BOTH]);
  return {
    priority,
    dedup,
    failGroupFast,
    ...(runAt !== undefined && { runAt }),
    ...(unique && { unique }),
    ...(tx !== undefined && { tx }),
    ...(to && { to }),
    ...(fairKey !== undefined && { fairKey }),
    ...(after.length > 0 && { after }),
    ...(after.length > 0 && afterFailed === 'run' && { afterFailed }),
    limits: isUsual(limits) ? USUAL_LIMITS : limits,
  };
}

/** As if the fields without a value were absent. */
function defined(options: SubmitOptions | undefined): SubmitOptions {
  return Object.fromEntries(Object.entries(options ?? {}).filter(([, value]) => value !== undefined));
}

/** A variable without a value is no decision to submit outside of a transaction. */
function lacksTransaction(options: SubmitOptions | undefined): boolean {
  return typeof options === 'object' && options !== null && 'tx' in options && options.tx === undefined;
}

const NO_TRANSACTION =
  'tx: undefined is no transaction, and the task would be submitted outside of the one that you mean: give its connection, or ' +
  'options without the field tx';

const NOT_BOTH = 'fairKey: a task that is addressed with "to" takes no part in the turns: give one of the two';

function isAwaitedName(value: unknown): boolean {
  const id: unknown = typeof value === 'object' && value !== null ? (value as { id?: unknown }).id : value;
  return typeof id === 'string' && id !== '' && id.length <= LONGEST_ID;
}

/** Usual limits are left out of the texts. */
function isUsual(limits: TaskLimits): boolean {
  return JSON.stringify(limits) === JSON.stringify(USUAL_LIMITS);
}
