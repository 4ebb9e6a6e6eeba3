import { z } from 'zod';
import { changeSchema, permitSchema } from '../../core/decision/answers.js';
import { denialReasonSchema, list, whole } from '../../core/decision/answer-values.js';
import { PROBLEMS, type ProblemCode } from './problem-codes.js';

/** Refusals that are possible for every call that needs a role. */
export const USUAL_PROBLEMS = [
  'bad-request',
  'invalid-options',
  'no-token',
  'too-many-attempts',
  'role-too-low',
  'token-limited',
  'host-not-allowed',
  'cross-origin',
  'forbidden',
  'unavailable',
  'no-quorum',
  'internal',
] as const satisfies readonly ProblemCode[];

/** More refusals of calls other than GET. */
export const WRITE_PROBLEMS = [
  'read-only',
  'too-many-changes',
  'reserved-name',
  'too-large',
  'not-json',
  'unknown-outcome',
  'corrupt-record',
  'newer-record',
] as const satisfies readonly ProblemCode[];

/** Problem details (RFC 9457), sent as application/problem+json. */
export const problemSchema = z
  .object({
    type: z.string().meta({ examples: ['urn:gatekeeper:edit-conflict'] }),
    title: z.string(),
    status: z.int().min(400).max(599),
    detail: z.string().optional().meta({ description: 'For people: which field and value is wrong, and what to do.' }),
    code: z.enum(Object.keys(PROBLEMS) as [ProblemCode]),
    faults: z.array(z.string()).optional().meta({ description: 'Every fault of the request.' }),
    retryAfter: whole
      .optional()
      .meta({ description: 'After too many requests: seconds until another try may succeed.' }),
    revision: whole.optional().meta({ description: 'Of a conflict: the current revision.' }),
    expectedRevision: whole.optional(),
    change: changeSchema.optional().meta({ description: 'Of a conflict: the change that came first.' }),
    reason: denialReasonSchema.optional().meta({ description: 'Of a denial: why no permit was granted.' }),
    freeIn: whole.optional().meta({
      description: 'Of a denial: ms until a permit is free, if none is refreshed or released before.',
    }),
    holders: list(permitSchema).optional().meta({ description: 'Of a denial: the permits that are held.' }),
  })
  .meta({ id: 'Problem' });

export type Problem = z.output<typeof problemSchema>;
