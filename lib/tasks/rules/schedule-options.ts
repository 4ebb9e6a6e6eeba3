import { z } from 'zod';
import { InvalidOptionsError, faultsOf, onlyFields, show } from '../../core/decision/index.js';
import { choiceSchema } from '../../core/decision/option-types.js';
import type { HandlerOptions } from './handler-options.js';
import { type SubmitOptions, parseSubmitOptions } from './submit-options.js';
import type { TaskLimits, Priority } from './task.js';
import { LONGEST_EXPRESSION } from './schedule-record.js';
import { type Ticks, readTicks } from '../../core/cron/ticks.js';

const MODES = ['once-per-tick', 'at-most-one-running', 'queue'] as const;
/**
 * Effect of a tick while the former run has not ended: it runs too, is skipped, or waits.
 *
 * @useDeclaredType
 */
export type ScheduleMode = (typeof MODES)[number];

const MISSED = ['skip', 'once', 'all'] as const;
/**
 * Effect of ticks that no node could submit: none, one run for all of them, or a run for each.
 *
 * @useDeclaredType
 */
export type MissedTicks = (typeof MISSED)[number];

/** Options of the tasks of a schedule. */
type RunOptions = Pick<
  SubmitOptions,
  'priority' | 'maxAttempts' | 'maxCrashes' | 'backoff' | 'retention' | 'deadLetterRetention'
>;

/** Options of a schedule, of its tasks, and of their handler. */
export interface ScheduleOptions extends RunOptions, HandlerOptions {
  /**
   * `'once-per-tick'`: one run per tick. `'at-most-one-running'`: a tick is skipped while the former run has not ended.
   * `'queue'`: ticks run one after another, in their order.
   *
   * @defaultValue `'once-per-tick'`
   */
  readonly mode?: ScheduleMode;
  /**
   * Name of a time zone (`'Europe/Berlin'`). The machine's zone has no effect, because nodes may differ.
   *
   * @defaultValue `'UTC'`
   */
  readonly timeZone?: string;
  /**
   * Ticks older than a minute that no node has submitted, because all were down, or the store. `'skip'`: they do not
   * run. `'once'`: the last one runs. `'all'`: all run, at most the last 1,000.
   *
   * @defaultValue `'skip'`
   */
  readonly missed?: MissedTicks;
}

export interface ParsedSchedule {
  readonly name: string;
  readonly expression: string;
  readonly timeZone: string;
  readonly mode: ScheduleMode;
  readonly missed: MissedTicks;
  readonly ticks: Ticks;
  readonly task: { readonly priority: Priority; readonly limits: TaskLimits };
  /** Checked with the handler. */
  readonly handler: HandlerOptions;
}

/** The form of a schedule's name: with the prefix it is the name of a type of tasks. */
const NAME = /^[\w.-]{1,59}$/;
const NAMED_OPTIONS = ['mode', 'timeZone', 'missed'] as const;
const HANDLER_OPTIONS = ['lease', 'keepAlive', 'concurrency', 'maxDuration'] as const;
const RUN_OPTIONS = ['priority', 'maxAttempts', 'maxCrashes', 'backoff', 'retention', 'deadLetterRetention'] as const;

const ownSchema = z.object({
  mode: choiceSchema(MODES).default('once-per-tick'),
  timeZone: z.string({ error: ({ input }) => `${show(input)} is not a text` }).default('UTC'),
  missed: choiceSchema(MISSED).default('skip'),
});
/** Refuses unknown fields. Their values are read elsewhere. */
const fieldsSchema = onlyFields(
  Object.fromEntries(
    [...NAMED_OPTIONS, ...HANDLER_OPTIONS, ...RUN_OPTIONS].map((field) => [field, z.unknown().optional()]),
  ),
);

/** @throws InvalidOptionsError listing every fault of the name, the expression and the options */
export function parseSchedule(name: unknown, expression: unknown, options: ScheduleOptions = {}): ParsedSchedule {
  const faults: string[] = [];
  if (typeof name !== 'string' || !NAME.test(name)) {
    faults.push(`name: ${show(name)} is not 1 to 59 letters, digits, "_", "." or "-"`);
  }
  const fields = fieldsSchema.safeParse(options);
  if (fields.error) throw new InvalidOptionsError(`schedule ${show(name)}`, [...faults, ...faultsOf(fields.error)]);
  const own = ownSchema.safeParse(options);
  if (own.error) faults.push(...faultsOf(own.error));
  if (typeof expression === 'string' && expression.length > LONGEST_EXPRESSION) {
    faults.push(`expression: ${expression.length} characters are more than ${LONGEST_EXPRESSION}`);
  }
  const read = readTicks(expression, own.data?.timeZone ?? 'UTC');
  if ('faults' in read) faults.push(...read.faults);
  if (own.data?.mode === 'at-most-one-running' && own.data.missed === 'all') {
    faults.push(
      'missed: "all" would be skipped in mode "at-most-one-running", but for one tick: give "once", or mode "queue"',
    );
  }
  if (!own.data || !('ticks' in read) || faults.length > 0)
    throw new InvalidOptionsError(`schedule ${show(name)}`, faults);
  const { priority, limits } = parseSubmitOptions(`of schedule ${name as string}`, picked(options, RUN_OPTIONS));
  const task = { priority, limits };
  const handler = picked(options, HANDLER_OPTIONS);
  return { name: name as string, expression: expression as string, ...own.data, ticks: read.ticks, task, handler };
}

function picked<Field extends keyof ScheduleOptions>(options: ScheduleOptions, fields: readonly Field[]) {
  const given = fields.filter((field) => options[field] !== undefined).map((field) => [field, options[field]]);
  return Object.fromEntries(given) as Pick<ScheduleOptions, Field>;
}
