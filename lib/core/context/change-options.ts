import { z } from 'zod';
import type { NodeIdentity } from './node-identity.js';
import { InvalidOptionsError, faultsOf, lineSchema, nameSchema, show, onlyFields } from '../decision/index.js';

/** Author, reason and expected revision of a change of a definition. */
export interface ChangeOptions {
  /** The author; every list and log shows it. Default: the node's own acquirer name. */
  readonly by?: string;
  /** The reason; every list and log shows it. */
  readonly reason?: string;
  /** The revision that the editor has read. If the record has another revision, the change fails. */
  readonly expectedRevision?: number;
}

/** Long enough for a sentence and a link to a ticket. */
export const LONGEST_REASON = 1000;

/** zod type of a reason that a person gives: must be one line, because lists and logs show it on one line. */
export const reasonSchema = lineSchema(LONGEST_REASON);

const schema = onlyFields({
  by: nameSchema.optional(),
  reason: reasonSchema.optional(),
  expectedRevision: z
    .number({ error: ({ input }) => `${show(input)} is not a revision` })
    .int()
    .positive()
    .optional(),
});

/** @throws InvalidOptionsError */
export function parseChangeOptions(semaphore: string, options: ChangeOptions = {}): ChangeOptions {
  const parsed = schema.safeParse(options);
  if (parsed.success) return parsed.data;
  throw new InvalidOptionsError(`a change of semaphore ${show(semaphore)}`, faultsOf(parsed.error));
}

/** The author and reason of a change. The default author is the node that writes it. */
export function authorOf(
  { by, reason }: ChangeOptions,
  { acquirer }: Pick<NodeIdentity, 'acquirer'>,
): { readonly by: string; readonly reason?: string } {
  return { by: by ?? acquirer, ...(reason !== undefined && { reason }) };
}
