import type { z } from 'zod';
import {
  InvalidOptionsError,
  faultsOf,
  numberReadBy,
  onlyFields,
  readDuration,
  shortestDuration,
  show,
} from '../decision/index.js';
import { switchSchema, wholeSchema } from '../decision/option-types.js';
import { USUAL_LEASE } from './task.js';

/** Options of a handler of tasks. */
export interface HandlerOptions {
  /** How long a claim lasts, ms or text. A crashed node's task is taken over after that. Default 30s. */
  readonly lease?: number | string;
  /** Whether the lease is renewed every third of it while the handler works. Default true. */
  readonly keepAlive?: boolean;
  /** Tasks of the type at the same time on this node. Default 4. */
  readonly concurrency?: number;
  /**
   * How long an attempt may take, ms or text. Then the signal aborts with a TaskTimeoutError, and the lease is renewed no
   * more. Default: as long as it needs.
   */
  readonly maxDuration?: number | string;
}

/** Tasks of one type at the same time on one node. */
const MOST_CONCURRENT = 1000;

const optionsSchema = onlyFields({
  lease: numberReadBy(readDuration).default(USUAL_LEASE),
  keepAlive: switchSchema.default(true),
  concurrency: wholeSchema(1, MOST_CONCURRENT).default(4),
  maxDuration: numberReadBy(readDuration).optional(),
});

export type ParsedHandlerOptions = z.output<typeof optionsSchema>;

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
