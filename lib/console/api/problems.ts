import { z } from 'zod';
import { changeSchema, denialReasonSchema, list, storedPermitSchema, whole } from './entities.js';

/** Codes of refused calls, each with its HTTP status and title. A code is never renamed. */
export const PROBLEMS = {
  'invalid-options': [400, 'The request has faults'],
  'reserved-name': [400, 'The name is reserved'],
  'bad-request': [400, 'The request can not be read'],
  'no-token': [401, 'A valid token is needed'],
  'role-too-low': [403, 'The token may not do this'],
  'token-limited': [403, 'The token is limited to other semaphores or to permits'],
  'read-only': [403, 'Nothing may be changed here'],
  'host-not-allowed': [403, 'The request names a host that is not allowed'],
  'cross-origin': [403, 'The request comes from another site'],
  forbidden: [403, 'The request was refused'],
  'not-found': [404, 'There is nothing here'],
  'unknown-semaphore': [404, 'There is no such semaphore'],
  'unknown-group': [404, 'The answering node has no such allocation group'],
  'unknown-task': [404, 'There is no such task'],
  'no-tasks': [404, 'The store keeps no tasks'],
  'unknown-run': [404, 'The request for a run is not remembered any more'],
  'no-alerts': [404, 'The answering node sends no alerts'],
  'nothing-matches': [404, 'The pattern matches no semaphore'],
  'unknown-entry': [404, 'The audit log has no such entry'],
  'unknown-maintenance': [404, 'There is no such maintenance window'],
  'already-defined': [409, 'The semaphore is defined already'],
  'edit-conflict': [409, 'Another change came first'],
  'maintenance-conflict': [409, 'A maintenance window does not allow this now'],
  'undo-refused': [409, 'The change can not be undone'],
  'not-in-code': [409, 'The code of this node does not define it'],
  denied: [409, 'No permit was granted'],
  'cannot-run': [409, 'No living node may run it now'],
  'run-requested': [409, 'A run was asked for a moment ago'],
  'cannot-lead': [409, 'The leadership can not go to that node'],
  'permit-lost': [409, 'The permit is not held any more'],
  'lease-expired': [409, 'The worker does not have the task any more'],
  'task-cancelled': [409, 'The task was cancelled'],
  'other-node': [409, 'Another node answers than the one that was meant'],
  'retry-refused': [409, 'The task can not run again'],
  'corrupt-record': [409, 'The record can not be read'],
  'newer-record': [409, 'The record was written by a newer version'],
  'too-large': [413, 'The body is too large'],
  'not-json': [415, 'Only application/json is accepted'],
  'too-many-attempts': [429, 'Too many wrong tokens came from one address'],
  'too-many-changes': [429, 'Too many changes came with one token'],
  'too-many-tests': [429, 'Too many tests of the alerts came at once'],
  'too-many-waits': [429, 'Too many requests with one token wait'],
  'too-many-names': [429, 'Too many names without a definition are in use'],
  'too-many-types': [429, 'Programs have named too many types of tasks on this node'],
  'too-many-streams': [503, 'Too many event streams are open'],
  unavailable: [503, 'The store can not be asked'],
  'no-quorum': [503, 'The store has too few members'],
  'unknown-outcome': [503, 'It is not known whether it was done'],
  closing: [503, 'This node shuts down'],
  internal: [500, 'Something went wrong here'],
} as const satisfies Record<string, readonly [status: number, title: string]>;

export type ProblemCode = keyof typeof PROBLEMS;

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
    holders: list(storedPermitSchema).optional().meta({ description: 'Of a denial: the permits that are held.' }),
  })
  .meta({ id: 'Problem' });

export type Problem = z.output<typeof problemSchema>;
