import { z } from 'zod';
import { type DenialReason } from '../../core/decision/index.js';
import {
  type Cancelled,
  PRIORITIES,
  type Released,
  type Retried,
  type Submitted,
  type TaskReason,
  type TaskView,
  type TypeDenial,
} from '../../tasks/index.js';
import { denialReasonSchema, list, time, whole } from './entities.js';

/* The answers to calls about tasks. If a schema differs from the library's own type, this file doesn't compile. */

const token = whole.meta({
  description: 'fencing token: grows with each attempt; give it to the resource that you guard',
});
const group = z
  .object({
    name: z.string(),
    number: whole.optional().meta({ description: "absent: this task runs the group's handler" }),
  })
  .meta({ id: 'TaskGroup' });
const data = z.unknown().meta({ description: 'any JSON value' });
const fault = z
  .object({
    name: z.string(),
    message: z.string(),
    stack: z.string().optional().meta({ description: 'only for the role operate' }),
    at: time,
  })
  .meta({ id: 'TaskError' });

const pastAttempt = z
  .object({
    token,
    endedAt: time,
    instance: z.string().meta({ description: 'of the node; or "http:" and the name of the token' }),
    error: z.string().optional().meta({ description: 'absent if the node crashed' }),
  })
  .meta({ id: 'PastAttempt' });

const TASK_STATES = [
  'waiting',
  'delayed',
  'blocked',
  'running',
  'awaiting',
  'completed',
  'failed',
  'crashed',
  'invalid',
  'cancelled',
] as const;
const state = z.enum(TASK_STATES);

export const taskSchema: z.ZodType<TaskView> = z
  .object({
    id: z.string(),
    type: z.string(),
    state,
    priority: z.enum(PRIORITIES),
    group: group.optional(),
    parent: z.string().optional().meta({ description: 'id of the task whose handler submitted it' }),
    data: data.optional().meta({ description: 'only for the role operate' }),
    to: z
      .object({
        group: z.string().optional(),
        acquirer: z.string().optional(),
        instance: z.string().optional(),
        orAnother: z
          .boolean()
          .optional()
          .meta({ description: 'true: it moves to another node when the process of `instance` is gone' }),
      })
      .optional()
      .meta({ id: 'TaskTarget', description: 'the nodes that may run it; absent: all' }),
    fairKey: z.string().optional().meta({ description: 'tasks of different keys are taken in turn' }),
    attempts: whole.meta({ description: 'attempts that failed' }),
    maxAttempts: whole,
    crashes: whole.meta({ description: 'attempts in which the node or the worker crashed' }),
    maxCrashes: whole,
    token,
    submittedAt: time,
    runAt: time.optional(),
    queue: z.string().optional(),
    after: z.array(z.string()).optional().meta({ description: 'ids of those that must end before it may run' }),
    lease: z
      .object({
        instance: z.string().meta({ description: 'of the node; or "http:" and the name of the token' }),
        until: time,
      })
      .optional()
      .meta({ id: 'TaskLease' }),
    progress: z
      .object({ done: z.number(), total: z.number(), note: z.string().optional(), at: time })
      .optional()
      .meta({ id: 'TaskProgress' }),
    lastError: fault.optional(),
    pastAttempts: list(pastAttempt).optional().meta({ description: 'the last 5 that failed or crashed, oldest first' }),
    cancel: z
      .object({ at: time, by: z.string(), reason: z.string().optional() })
      .optional()
      .meta({ id: 'TaskCancellation' }),
    next: z
      .object({ data: data.optional(), priority: z.enum(PRIORITIES), runAt: time.optional() })
      .optional()
      .meta({ id: 'NextLife', description: 'it was submitted again meanwhile, and begins anew when it has ended' }),
    endedAt: time.optional(),
    keptUntil: time.optional().meta({ description: 'how long it is remembered' }),
    result: data.optional().meta({ description: 'only for the role operate' }),
    split: z.literal(true).optional().meta({ description: 'whether its handler has submitted sub-tasks' }),
    subTasks: z.object({ total: whole, failed: whole }).optional().meta({ id: 'SubTaskCounts' }),
  })
  .meta({ id: 'Task' });

const EXPLANATIONS = [
  'run-at',
  'backoff',
  'retry-later',
  'waiting',
  'running',
  'cancelling',
  'sub-tasks',
  'after',
  'ended',
] as const;

const explanation: z.ZodType<TaskReason> = z
  .object({
    reason: z.enum(EXPLANATIONS),
    sentence: z.string(),
    until: time.optional().meta({ description: 'when it may run next, or when the lease of its attempt ends' }),
    groupWaitsFor: z.enum(['total', 'members', 'handler']).optional(),
  })
  .meta({ id: 'TaskExplanation' });

export const detailsSchema = z.object({ now: time, task: taskSchema, explanation }).meta({ id: 'TaskDetails' });
export type TaskAnswer = z.output<typeof detailsSchema>;

export const submittedSchema: z.ZodType<Submitted> = z
  .object({
    id: z.string(),
    outcome: z.enum(['created', 'known', 'replaced']),
    because: z.string(),
  })
  .meta({ id: 'SubmittedTask' });

/** A task for the worker that claimed it. */
export interface ClaimedTask {
  readonly id: string;
  readonly type: string;
  readonly data?: unknown;
  readonly token: number;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly group?: { readonly name: string; readonly number?: number };
  readonly submittedAt: number;
  readonly traceparent?: string;
  readonly expiresAt: number;
  readonly remaining: number;
}

const remaining = whole.meta({
  description: 'ms for which you may count on it, from the moment at which you sent the request: renew it before',
});
const claimedSchema: z.ZodType<ClaimedTask> = z
  .object({
    id: z.string(),
    type: z.string(),
    data: data.optional(),
    token,
    attempt: whole.meta({ description: 'from 1: attempts that failed or crashed count' }),
    maxAttempts: whole,
    group: group.optional(),
    submittedAt: time,
    traceparent: z.string().optional().meta({
      description:
        'span of its submission, as in W3C Trace Context, if its submitter has telemetry: link your span to it',
    }),
    expiresAt: time.meta({ description: 'end of its lease' }),
    remaining,
  })
  .meta({ id: 'ClaimedTask' });

const denialSchema: z.ZodType<TypeDenial> = z
  .object({
    type: z.string(),
    reason: denialReasonSchema as z.ZodType<DenialReason>,
    freeIn: whole
      .optional()
      .meta({ description: 'ms until a permit is free, if none is refreshed or released before' }),
  })
  .meta({ id: 'TypeDenial' });

export const claimsSchema = z
  .object({
    now: time,
    tasks: list(claimedSchema),
    denied: list(denialSchema).meta({ description: 'types of which the limit allowed none, or no more' }),
    key: z.string().optional().meta({
      description:
        'only for requests without a name: send it with each call about these tasks, and with the next claim',
    }),
  })
  .meta({ id: 'ClaimedTasks' });

export const renewedSchema = z.object({ remaining }).meta({ id: 'RenewedTask' });
export const endSchema = z.object({ id: z.string(), state }).meta({ id: 'ChangedTask' });
export type ChangedTask = z.output<typeof endSchema>;

export const cancelledSchema: z.ZodType<Cancelled> = z
  .object({
    id: z.string(),
    outcome: z.enum(['cancelled', 'requested', 'ended', 'unknown']),
    because: z.string(),
  })
  .meta({ id: 'CancelledTask' });
export const retriedSchema: z.ZodType<Retried> = z
  .object({
    id: z.string(),
    outcome: z.enum(['retried', 'refused', 'unknown']),
    because: z.string(),
  })
  .meta({ id: 'RetriedTask' });
export const releasedSchema: z.ZodType<Released> = z
  .object({
    id: z.string(),
    outcome: z.enum(['released', 'refused', 'unknown']),
    because: z.string(),
  })
  .meta({ id: 'ReleasedTask' });

export const tasksSchema = z
  .object({
    now: time,
    tasks: list(taskSchema).meta({ description: 'without data and results' }),
    next: z.string().optional().meta({ description: 'for the next page; a page may be empty although more follow' }),
    leftOut: whole.meta({
      description:
        'tasks in the part of the store that this page has read that this node can not read; they are left out',
    }),
  })
  .meta({ id: 'TaskList' });
export type TasksAnswer = z.output<typeof tasksSchema>;
