import { z } from 'zod';
import {
  InvalidOptionsError,
  faultsOf,
  nameSchema,
  patternSchema,
  show,
  onlyFields,
} from '../../core/decision/index.js';
import { reasonSchema } from '../../core/context/change-options.js';

/** The semaphores to change, the author and the reason. */
export interface BulkRequest {
  /**
   * RE2; must match the whole name. Default: every name. A name on demand without a definition is only selected if this
   * is exactly that name.
   */
  readonly names?: string;
  /** The author. Default: the node's own acquirer name. */
  readonly by?: string;
  /** Why, for the audit log. */
  readonly reason?: string;
  /** Largest number of changes in one call. Default: no limit. */
  readonly limit?: number;
  /** Filter: a semaphore for which it returns false is skipped, as if the store did not have it. */
  readonly only?: (name: string) => boolean;
  /**
   * Called once before the first change, with the number of changes. If it throws, nothing is changed, and the call
   * fails with this error.
   */
  readonly onPlanned?: (count: number) => void;
  /** `bulk` of the result before, if this call continues a change. Default: a new id. */
  readonly bulk?: string;
}

/** zod type of the id of an entry of the audit log, or of a change of many. */
export const entryIdSchema = z
  .string({ error: ({ input }) => `${show(input)} is not an id of the audit log` })
  .regex(/^[\w.-]{1,64}$/, { error: ({ input }) => `${show(input)} is not an id of the audit log` });

/** zod types of the options that all bulk changes have. */
export const bulkFields = {
  names: patternSchema.optional(),
  by: nameSchema.optional(),
  reason: reasonSchema.optional(),
  limit: z
    .int({ error: ({ input }) => `${show(input)} is not a whole number of semaphores` })
    .positive({ error: ({ input }) => `${show(input)} semaphores are none: give 1 or more, or leave it out` })
    .optional(),
  only: z
    .custom<(name: string) => boolean>((value) => typeof value === 'function', {
      error: ({ input }) => `${show(input)} is not a function of a name`,
    })
    .optional(),
  onPlanned: z.custom<(count: number) => void>((value) => typeof value === 'function').optional(),
  bulk: entryIdSchema.optional(),
};

const schema = onlyFields(bulkFields);

/** @throws InvalidOptionsError */
export function parseBulkRequest(request: BulkRequest): BulkRequest {
  return parsedBy(schema, 'a change of many semaphores', request);
}

/** @throws InvalidOptionsError that contains `subject` and all faults */
export function parsedBy<T>(type: z.ZodType<T>, subject: string, input: unknown): T {
  const parsed = type.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new InvalidOptionsError(subject, faultsOf(parsed.error));
}
