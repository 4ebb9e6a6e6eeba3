import { z } from 'zod';
import { typeDenialSchema } from '../../tasks/rules/answers.js';
import { token } from '../../tasks/rules/task-parts.js';
import {
  type TaskView,
  data,
  groupOfTask,
  stateSchema,
  taskReasonSchema,
  taskViewSchema,
} from '../../tasks/rules/views.js';
import { list, time, whole } from '../../core/decision/answer-values.js';

/* The answers to calls about tasks. */

export const detailsSchema = z
  .object({ now: time, task: taskViewSchema, explanation: taskReasonSchema })
  .meta({ id: 'TaskDetails' });
export type TaskAnswer = z.output<typeof detailsSchema>;

const remaining = whole.meta({
  description: 'ms for which you may count on it, from the moment at which you sent the request: renew it before',
});
const claimedSchema = z
  .object({
    id: z.string(),
    type: z.string(),
    data: data.optional(),
    token,
    attempt: whole.meta({ description: 'from 1: attempts that failed or crashed count' }),
    maxAttempts: whole,
    group: groupOfTask.optional(),
    submittedAt: time,
    traceparent: z.string().optional().meta({
      description:
        'span of its submission, as in W3C Trace Context, if its submitter has telemetry: link your span to it',
    }),
    expiresAt: time.meta({ description: 'end of its lease' }),
    remaining,
  })
  .meta({ id: 'ClaimedTask' });

/** A task for the worker that claimed it. */
export type ClaimedTask = z.output<typeof claimedSchema>;

export const claimsSchema = z
  .object({
    now: time,
    tasks: list(claimedSchema),
    denied: list(typeDenialSchema).meta({ description: 'types of which the limit allowed none, or no more' }),
    key: z.string().optional().meta({
      description:
        'only for requests without a name: send it with each call about these tasks, and with the next claim',
    }),
  })
  .meta({ id: 'ClaimedTasks' });

export const renewedSchema = z.object({ remaining }).meta({ id: 'RenewedTask' });
export const endSchema = z.object({ id: z.string(), state: stateSchema }).meta({ id: 'ChangedTask' });
export type ChangedTask = z.output<typeof endSchema>;

export const tasksSchema = z
  .object({
    now: time,
    tasks: list<TaskView>(taskViewSchema).meta({ description: 'without data and results' }),
    next: z.string().optional().meta({ description: 'for the next page; a page may be empty although more follow' }),
    leftOut: whole.meta({
      description:
        'tasks in the part of the store that this page has read that this node can not read; they are left out',
    }),
  })
  .meta({ id: 'TaskList' });
export type TasksAnswer = z.output<typeof tasksSchema>;
