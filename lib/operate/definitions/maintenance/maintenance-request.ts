import { z } from 'zod';
import { lineSchema, nameSchema, onlyFields, patternSchema, show } from '../../../core/decision/index.js';
import { bulkFields, parsedBy } from '../bulk-request.js';
import { MOST_PATTERNS } from '../change-sets/window-part.js';

/** A maintenance window to start. */
export interface MaintenanceRequest {
  /** Name of the window: one line of up to 200 characters. */
  readonly window: string;
  /** RE2; each must match the whole name of a semaphore. One pattern, or up to 20. */
  readonly names: string | readonly string[];
  /** Why; shown with each pause. Up to 700 characters. */
  readonly reason?: string;
  /** The author. Default: the node's own acquirer name. */
  readonly by?: string;
  /** Largest number of semaphores to pause in one call. Default: no limit. */
  readonly limit?: number;
  /** Filter: a semaphore for which it returns false is skipped, as if the store did not have it. */
  readonly only?: (name: string) => boolean;
  /** Called before the first pause, with the number of pauses. If it throws, the call pauses nothing and fails with it. */
  readonly onPlanned?: (count: number) => void;
}

/** How a maintenance window ends. */
export interface EndMaintenanceOptions {
  /** The author. Default: the node's own acquirer name. */
  readonly by?: string;
  /** Why, for the audit log. */
  readonly reason?: string;
  /** Largest number of semaphores to resume in one call. Default: no limit. */
  readonly limit?: number;
  /** Called before the end begins, with all names that the window has paused. If it throws, nothing is changed. */
  readonly onWindow?: (names: readonly string[]) => void;
  /** Called before the first resume, with the number of resumes. If it throws, the call resumes nothing. */
  readonly onPlanned?: (count: number) => void;
}

/** Leaves room for the name of the window in the reason of each pause. */
export const LONGEST_MAINTENANCE_REASON = 700;

const onCount = z.custom<(count: number) => void>((value) => typeof value === 'function').optional();

const windowPatternsSchema = z
  .array(patternSchema, { error: ({ input }) => `${show(input)} is neither a pattern nor a list of patterns` })
  .min(1, { error: 'has no pattern: give 1 or more' })
  .max(MOST_PATTERNS, { error: `has more than ${MOST_PATTERNS} patterns` });

/** zod type of the reason of a window. */
export const windowReasonSchema = lineSchema(LONGEST_MAINTENANCE_REASON);

const requestSchema = onlyFields({
  window: nameSchema,
  names: z.preprocess((names) => (typeof names === 'string' ? [names] : names), windowPatternsSchema),
  reason: windowReasonSchema.optional(),
  by: bulkFields.by,
  limit: bulkFields.limit,
  only: bulkFields.only,
  onPlanned: onCount,
});

const endSchema = onlyFields({
  by: bulkFields.by,
  reason: bulkFields.reason,
  limit: bulkFields.limit,
  onWindow: z.custom<(names: readonly string[]) => void>((value) => typeof value === 'function').optional(),
  onPlanned: onCount,
});

/** @throws InvalidOptionsError */
export function parseMaintenanceRequest(request: MaintenanceRequest) {
  return parsedBy(requestSchema, 'a maintenance window', request);
}

/** @throws InvalidOptionsError */
export function parseEndOptions(options: EndMaintenanceOptions) {
  return parsedBy(endSchema, 'the end of a maintenance window', options);
}
