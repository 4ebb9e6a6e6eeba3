import type { z } from 'zod';
import { onlyFields } from '../../core/decision/index.js';
import { reason } from './fields.js';
import type { ProblemCode } from './problem-codes.js';
import { type DocumentedRoute, route } from './route.js';
import * as answers from './task-answers.js';
import { taskTypesSchema } from './task-overview.js';
import * as fields from './task-fields.js';

/* The calls about tasks. */

const one = 'api/tasks/:id';
const changeBody = onlyFields({ reason: reason.optional() }).meta({ id: 'TaskChangeRequest' });

interface Verb {
  readonly verb: string;
  readonly operationId: string;
  readonly summary: string;
  readonly problems: readonly ProblemCode[];
}

/** A call about one task that changes it. */
const change = <const Of extends Verb, Body extends z.ZodObject, Answer extends z.ZodType>(
  { verb, ...described }: Of,
  body: Body,
  answer: Answer,
) =>
  route({
    ...described,
    method: 'POST',
    path: `${one}/${verb}`,
    role: 'operate',
    writes: true,
    params: fields.taskParams,
    body,
    answer,
  });

/** A call of the worker that has the task. */
const attempt = <Body extends z.ZodObject, Answer extends z.ZodType>(
  described: Omit<Verb, 'problems'> & { readonly problems?: readonly ProblemCode[] },
  body: Body,
  answer: Answer,
) => ({
  ...change({ ...described, problems: ['lease-expired', 'closing', ...(described.problems ?? [])] }, body, answer),
  isUnaudited: true,
});

export const TASK_ROUTES = {
  submitTask: route({
    operationId: 'submitTask',
    method: 'POST',
    path: 'api/tasks',
    summary: 'Submit a task; the same id again changes nothing while its task has not ended',
    role: 'operate',
    writes: true,
    isUnaudited: true,
    largestBody: fields.LARGEST_TASK_BODY,
    body: fields.submitTaskBody,
    answer: answers.submittedSchema,
    problems: ['too-many-types', 'too-many-tasks'],
  }),
  tasks: route({
    operationId: 'listTasks',
    method: 'GET',
    path: 'api/tasks',
    summary: 'Tasks of a state, page by page; each page reads at most 500 tasks',
    role: 'view',
    query: fields.tasksQuery,
    answer: answers.tasksSchema,
  }),
  taskTypes: route({
    operationId: 'listTaskTypes',
    method: 'GET',
    path: 'api/task-types',
    summary: 'Types of which tasks wait, and the types that each node handles, with their work in the last minute',
    role: 'view',
    query: fields.taskTypesQuery,
    answer: taskTypesSchema,
  }),
  claimTasks: route({
    operationId: 'claimTasks',
    method: 'POST',
    path: 'api/tasks/claim',
    summary: 'Claim tasks of some types for a worker that is no node, or wait for one up to a minute',
    role: 'operate',
    writes: true,
    isUnaudited: true,
    body: fields.claimBody,
    answer: answers.claimsSchema,
    problems: ['too-many-types', 'too-many-tasks', 'too-many-waits', 'closing'],
  }),
  task: route({
    operationId: 'getTask',
    method: 'GET',
    path: one,
    summary: 'One task, and why it does not run, or where it runs',
    role: 'view',
    params: fields.taskParams,
    answer: answers.detailsSchema,
    problems: ['unknown-task', 'corrupt-record', 'newer-record'],
  }),
  renewTask: attempt(
    {
      verb: 'renew',
      operationId: 'renewTask',
      summary: 'Renew the lease of a task, and the permit of its limit',
      problems: ['task-cancelled', 'denied', 'permit-lost'],
    },
    fields.renewTaskBody,
    answers.renewedSchema,
  ),
  completeTask: {
    ...attempt(
      {
        verb: 'complete',
        operationId: 'completeTask',
        summary: 'End a task with its result',
        problems: ['task-cancelled'],
      },
      fields.completeTaskBody,
      answers.endSchema,
    ),
    largestBody: fields.LARGEST_TASK_BODY,
  },
  failTask: attempt(
    { verb: 'fail', operationId: 'failTask', summary: 'Report that an attempt failed' },
    fields.failTaskBody,
    answers.endSchema,
  ),
  retryTaskLater: attempt(
    { verb: 'retry-later', operationId: 'retryTaskLater', summary: 'Let a task wait, which is no failure' },
    fields.retryLaterBody,
    answers.endSchema,
  ),
  giveTaskBack: attempt(
    { verb: 'give-back', operationId: 'giveTaskBack', summary: 'Give a task back: another worker may have it at once' },
    fields.giveBackBody,
    answers.endSchema,
  ),
  cancelTask: change(
    {
      verb: 'cancel',
      operationId: 'cancelTask',
      summary: 'Cancel a task; the result of an attempt that runs is refused',
      problems: ['unknown-task'],
    },
    changeBody,
    answers.cancelledSchema,
  ),
  retryTask: change(
    {
      verb: 'retry',
      operationId: 'retryTask',
      summary: 'Let a task run again that ended without success',
      problems: ['unknown-task', 'retry-refused'],
    },
    changeBody,
    answers.retriedSchema,
  ),
  releaseTask: change(
    {
      verb: 'release',
      operationId: 'releaseTask',
      summary: 'End the claim of a program: another worker may have the task at once',
      problems: ['unknown-task', 'release-refused'],
    },
    changeBody,
    answers.releasedSchema,
  ),
} as const satisfies Record<string, DocumentedRoute>;
