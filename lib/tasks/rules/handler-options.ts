import type { z } from 'zod';
import {
  InvalidOptionsError,
  faultsOf,
  numberReadBy,
  onlyFields,
  readDuration,
  shortestDuration,
  show,
} from '../../core/decision/index.js';
import { switchSchema, wholeSchema } from '../../core/decision/option-types.js';
import { type SubmitOptions, parseSubmitOptions } from './submit-options.js';
import { type TaskLimits, USUAL_LEASE } from './task.js';

/** Options of a handler of tasks. */
export interface HandlerOptions {
  /**
   * How long a claim lasts, ms or text. A crashed node's task is taken over after that.
   *
   * @defaultValue 30s
   */
  readonly lease?: number | string;
  /**
   * Whether the lease is renewed every third of it while the handler works. If not, call `lease.renew()`.
   *
   * @defaultValue true
   */
  readonly keepAlive?: boolean;
  /**
   * Tasks of the type at the same time on this node.
   *
   * @defaultValue 4
   */
  readonly concurrency?: number;
  /**
   * How long an attempt may take, ms or text. Then the signal aborts with a TaskTimeoutError, and the lease is renewed
   * no more.
   *
   * @defaultValue as long as it needs
   */
  readonly maxDuration?: number | string;
}

/**
 * Options of a handler of groups: those of a handler, and the limits of its own task. The options of the members have no effect
 * on them.
 */
export interface GroupHandlerOptions extends HandlerOptions, Partial<Pick<SubmitOptions, LimitField>> {}

const LIMIT_FIELDS = ['maxAttempts', 'maxCrashes', 'backoff', 'retention', 'deadLetterRetention'] as const;
type LimitField = (typeof LIMIT_FIELDS)[number];

/** Tasks of one type at the same time on one node. */
const MOST_CONCURRENT = 1000;

const optionsSchema = onlyFields({
  lease: numberReadBy(readDuration).default(USUAL_LEASE),
  keepAlive: switchSchema.default(true),
  concurrency: wholeSchema(1, MOST_CONCURRENT).default(4),
  maxDuration: numberReadBy(readDuration).optional(),
});

type ParsedHandlerOptions = z.output<typeof optionsSchema>;

/** @throws InvalidOptionsError */
export function parseHandlerOptions(
  type: string,
  options: HandlerOptions | undefined,
  clockTolerance: number,
): ParsedHandlerOptions {
  const { data, error } = optionsSchema.safeParse(options ?? {});
  const shortest = shortestDuration(clockTolerance);
  const faults = error ? faultsOf(error) : [];
  if (data && data.lease < shortest) faults.push(`lease: ${data.lease} ms is shorter than ${shortest} ms`);
  if (data && faults.length === 0) return data;
  throw new InvalidOptionsError(`the handler of tasks ${show(type)}`, faults);
}

/** @returns the options of the handler, and the limits of its tasks @throws InvalidOptionsError */
export function parseGroupHandlerOptions(
  type: string,
  options: GroupHandlerOptions | undefined,
  clockTolerance: number,
): ParsedHandlerOptions & { readonly limits: TaskLimits } {
  const fields = Object.entries(typeof options === 'object' ? (options ?? {}) : {});
  const isLimit = ([name]: readonly [string, unknown]) => (LIMIT_FIELDS as readonly string[]).includes(name);
  const others = typeof options === 'object' ? Object.fromEntries(fields.filter((field) => !isLimit(field))) : options;
  const parsed = parseHandlerOptions(type, others, clockTolerance);
  const { limits } = parseSubmitOptions(`of the groups ${type}`, Object.fromEntries(fields.filter(isLimit)));
  return { ...parsed, limits };
}
