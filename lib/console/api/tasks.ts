import { timeOf } from '../../core/context/context.js';
import { InvalidOptionsError, TASK_PREFIX, omitUndefined, onlyFields, show } from '../../core/decision/index.js';
import { UnknownOutcomeError } from '../../core/store/index.js';
import type { Parts } from '../../gatekeeper/index.js';
import { type SubmitOptions, type TaskView, detailsOf, nameOfId, typeOfId, withoutSecrets } from '../../tasks/index.js';
import * as changes from '../../tasks/rules/answers.js';
import type { Caller } from './caller.js';
import { reason } from './fields.js';
import { operation } from './operation.js';
import type { ProblemCode } from './problem-codes.js';
import { ProblemError } from './problem.error.js';
import { includes } from './roles.js';
import * as answers from './task-answers.js';
import * as fields from './task-fields.js';
import { expectTypesOpen, expectTypesSeen } from './task-names.js';
import type { z } from 'zod';

const one = 'api/tasks/:id';
const changeBody = onlyFields({ reason: reason.optional() }).meta({ id: 'TaskChangeRequest' });

interface Outcome {
  readonly outcome: string;
  readonly because: string;
}

interface Verb {
  readonly verb: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** Of the audit log. */
  readonly action: 'cancel-task' | 'retry-task' | 'release-task';
  /** Refusal of a task whose state does not allow the change. Without one, the answer says it. */
  readonly refusal?: ProblemCode;
}

/** A change of one task by an operator, which stands in the audit log, also if its answer was lost. */
const change = <Answer extends z.ZodType<Outcome>>(
  { verb, action, refusal, ...described }: Verb,
  answer: Answer,
  make: (
    tasks: Parts['tasks'],
    id: string,
    meta: { readonly by: string; readonly reason?: string },
  ) => Promise<z.output<Answer>>,
) =>
  operation({
    ...described,
    method: 'POST',
    path: `${one}/${verb}`,
    role: 'operate',
    writes: true,
    params: fields.taskParams,
    body: changeBody,
    answer,
    problems: ['unknown-task', ...(refusal ? [refusal] : [])],
    run: async ({ tasks, audit }, { params: { id }, body }, caller) => {
      expectTypesSeen(caller, [typeOfId(id)]);
      const meta = { by: caller.user, ...omitUndefined(body) };
      const entry = { action, semaphore: TASK_PREFIX + typeOfId(id), ...meta, task: id };
      const made: Outcome = await audit.evenIfUnknown(
        () => entry,
        () => make(tasks, id, meta),
      );
      if (made.outcome === 'unknown') throw new ProblemError('unknown-task', made.because);
      if (made.outcome === 'refused' && refusal) throw new ProblemError(refusal, `task ${show(id)}: ${made.because}`);
      if (made.outcome !== 'ended') audit.note(entry);
      return made as z.output<Answer>;
    },
  });

/** Shows tasks to operators, changes them, and takes submissions. */
export const TASK_OPERATIONS = {
  submitTask: operation({
    operationId: 'submitTask',
    method: 'POST',
    path: 'api/tasks',
    summary: 'Submit a task; the same id again changes nothing while its task has not ended',
    description:
      'Takes the options of a submission (docs/tasks.md#submit): `runAt` in ms or `delay`; `after` is a list of ids, `to` an ' +
      'object. `total` is that of its group.',
    role: 'operate',
    writes: true,
    isUnaudited: true,
    largestBody: fields.LARGEST_TASK_BODY,
    body: fields.submitTaskBody,
    answer: changes.submittedSchema,
    problems: ['too-many-types', 'too-many-tasks'],
    run: async ({ tasks }, { body: { id, total, data, ...given } }, caller) => {
      expectTypesSeen(caller, [id, ...(given.after ?? [])].map(typeOfId));
      const name = nameOfId(id, total);
      expectTypesOpen(caller, [name.type]);
      const options = optionsOf(id, given);
      caller.limits.changes.noteTaskCall(caller);
      const note = (first: string, outcome?: 'unknown') =>
        caller.limits.taskCalls.note('submit-tasks', caller, name.type, {
          first,
          count: 1,
          ...omitUndefined({ outcome }),
        });
      try {
        const submitted = await tasks.submitFor(caller.user, name, data, options);
        if (submitted.outcome !== 'known') note(submitted.id);
        return submitted;
      } catch (error) {
        if (error instanceof UnknownOutcomeError) note(id, 'unknown');
        throw error;
      }
    },
  }),
  tasks: operation({
    operationId: 'listTasks',
    method: 'GET',
    path: 'api/tasks',
    summary: 'Tasks of a state, page by page; each page reads at most 500 tasks',
    description:
      '`state` is `waiting`, `delayed`, `blocked`, `running`, `awaiting` or `dead`. The tasks come without data and results, up ' +
      'to `limit` (100). `from` is `next` of the page before.',
    role: 'view',
    query: fields.tasksQuery,
    answer: answers.tasksSchema,
    run: async ({ tasks, context }, { query: { type, ...asked } }, caller) => {
      if (type !== undefined) expectTypesSeen(caller, [type]);
      const { sees } = caller;
      const isWanted = (each: string) => (type === undefined || each === type) && (!sees || sees(TASK_PREFIX + each));
      return { now: timeOf(context), ...(await tasks.list({ ...asked, isWanted })) };
    },
  }),
  task: operation({
    operationId: 'getTask',
    method: 'GET',
    path: one,
    summary: 'One task, and why it does not run, or where it runs',
    role: 'view',
    params: fields.taskParams,
    answer: answers.detailsSchema,
    problems: ['unknown-task', 'corrupt-record', 'newer-record'],
    run: async ({ tasks, context }, { params: { id } }, caller) => {
      expectTypesSeen(caller, [typeOfId(id)]);
      const details = detailsOf(await tasks.explain(id));
      if (typeof details === 'string') throw new ProblemError('unknown-task', details);
      return { now: timeOf(context), task: visibleTo(caller, details.task), explanation: details.explanation };
    },
  }),
  cancelTask: change(
    {
      verb: 'cancel',
      operationId: 'cancelTask',
      action: 'cancel-task',
      summary: 'Cancel a task; the result of an attempt that runs is refused',
      description: 'See docs/tasks.md#one-task-by-its-id.',
    },
    changes.cancelledSchema,
    (tasks, id, meta) => tasks.cancel(id, meta),
  ),
  retryTask: change(
    {
      verb: 'retry',
      operationId: 'retryTask',
      action: 'retry-task',
      summary: 'Let a task run again that ended without success',
      description: "409 `retry-refused` says why it can't.",
      refusal: 'retry-refused',
    },
    changes.retriedSchema,
    (tasks, id) => tasks.retry(id),
  ),
  releaseTask: change(
    {
      verb: 'release',
      operationId: 'releaseTask',
      action: 'release-task',
      summary: 'End the claim of a program: another worker may have the task at once',
      description: '409 `release-refused`: no program has the task.',
      refusal: 'release-refused',
    },
    changes.releasedSchema,
    (tasks, id) => tasks.release(id),
  ),
};

type Given = Omit<SubmitOptions, 'runAt'> & {
  readonly runAt?: number | undefined;
  readonly delay?: number | undefined;
};

/** @throws InvalidOptionsError */
function optionsOf(id: string, { runAt, delay, ...options }: Given): SubmitOptions {
  if (runAt !== undefined && delay !== undefined) {
    throw new InvalidOptionsError(`options of task ${show(id)}`, ['delay: give either delay or runAt']);
  }
  if (delay !== undefined) return { ...options, runAt: delay };
  return { ...options, ...(runAt !== undefined && { runAt: new Date(runAt) }) };
}

/** A role that may claim tasks sees their data in any case. */
function visibleTo({ role }: Caller, task: TaskView): TaskView {
  return includes(role, 'operate') ? task : withoutSecrets(task);
}
