import { createHash, randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { timeOf } from '../../core/context/context.js';
import { instanceOfProgram } from '../../core/context/node-identity.js';
import { InvalidOptionsError, quoted } from '../../core/decision/index.js';
import { type ExternalClaim, type ExternalTasks, type Task, typeOfId, viewOf } from '../../tasks/index.js';
import type { Caller } from './caller.js';
import { operation } from './operation.js';
import type { ProblemCode } from './problem-codes.js';
import { ProblemError } from './problem.error.js';
import * as answers from './task-answers.js';
import * as fields from './task-fields.js';
import { expectTypesOpen } from './task-names.js';

/** ms of the longest lease of a token without the option `maxLease`. */
const LONGEST_LEASE = 3_600_000;
/** Characters of the hash of a key: 132 bits. */
const HASH = 22;

interface Verb {
  readonly verb: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly largestBody?: number;
  readonly problems?: readonly ProblemCode[];
}

/** The lease of one claim of a task. */
type Attempt = ReturnType<typeof attemptOf>;

/** A call of the worker that has the task. */
const attempt = <Body extends z.ZodObject<typeof fields.attemptShape>, Answer extends z.ZodType>(
  { verb, problems = [], ...described }: Verb,
  body: Body,
  answer: Answer,
  make: (external: ExternalTasks, attempt: Attempt, body: z.output<Body>) => Promise<z.output<Answer>>,
) =>
  operation({
    ...described,
    method: 'POST',
    path: `api/tasks/:id/${verb}`,
    role: 'operate',
    writes: true,
    isUnaudited: true,
    params: fields.taskParams,
    body,
    answer,
    problems: ['lease-expired', 'closing', ...problems],
    run: async ({ tasks }, { params: { id }, body: sent }, caller) => {
      const { lease } = sent as { readonly lease?: number };
      if (lease !== undefined) expectLease(caller, lease);
      const of = attemptOf(caller, id, sent as { readonly token: number; readonly key?: string });
      return make((await tasks.open()).external, of, sent as z.output<Body>);
    },
  });

/**
 * Tasks for workers that are not nodes: scripts and programs in other languages. A worker may ask any node each time. Like a
 * permit, a task belongs to the name of the token that claimed it.
 */
export const WORKER_OPERATIONS = {
  claimTasks: operation({
    operationId: 'claimTasks',
    method: 'POST',
    path: 'api/tasks/claim',
    summary: 'Claim tasks of some types for a worker that is no node, or wait for one up to a minute',
    description:
      'Gives up to `max` (1, at most 20) tasks, and about 1 MiB, of `types` (at most 20) for a `lease` (30 s); waits up to ' +
      '`wait` for one.',
    role: 'operate',
    writes: true,
    isUnaudited: true,
    body: fields.claimBody,
    answer: answers.claimsSchema,
    problems: ['too-many-types', 'too-many-tasks', 'too-many-waits', 'closing'],
    run: async ({ tasks, context }, { body }, caller) => {
      const { types, max: most, lease, wait, acquirer = caller.user, group } = body;
      expectTypesOpen(caller, types);
      expectLease(caller, lease);
      const key = caller.isNameless ? (body.key ?? randomUUID()) : undefined;
      const worker = { instance: instanceOf(caller, key), acquirer, ...(group !== undefined && { group }) };
      const { signal, limits, user: program } = caller;
      const request = { worker, program, types: [...new Set(types)], most, lease, wait, signal };
      limits.changes.noteTaskCall(caller);
      const claiming = async () => (await tasks.open()).external.claim(request);
      const claimed = await limits.waiting('tasks', caller, wait, claiming);
      noteClaims(caller, claimed.tasks);
      return {
        now: timeOf(context),
        tasks: claimed.tasks.map(told),
        denied: claimed.denied,
        ...(key !== undefined && { key }),
      };
    },
  }),
  renewTask: attempt(
    {
      verb: 'renew',
      operationId: 'renewTask',
      summary: 'Renew the lease of a task, and the permit of its limit',
      description: 'The lease lasts at least `lease` (30 s) from now. May report `progress`: `done`, `total`, `note`.',
      problems: ['task-cancelled', 'denied', 'permit-lost'],
    },
    fields.renewTaskBody,
    answers.renewedSchema,
    async (external, of, { lease, progress }) => {
      const renewed = await external.renew(of, lease, progress);
      if ('remaining' in renewed) return { remaining: renewed.remaining };
      const { type, reason } = renewed;
      const code = reason === 'permit-lost' ? reason : 'denied';
      throw new ProblemError(code, `no permit of the limit of type ${quoted(type)}: ${reason}`, { reason });
    },
  ),
  completeTask: attempt(
    {
      verb: 'complete',
      operationId: 'completeTask',
      summary: 'End a task with its `result`',
      largestBody: fields.LARGEST_TASK_BODY,
      problems: ['task-cancelled'],
    },
    fields.completeTaskBody,
    answers.endSchema,
    async (external, of, { result }) => ended(await external.complete(of, result)),
  ),
  failTask: attempt(
    {
      verb: 'fail',
      operationId: 'failTask',
      summary: 'Report that an attempt failed',
      description:
        '`message`, `name` and `stack` are those of the error. `retryable: false` makes the task a dead letter at once.',
    },
    fields.failTaskBody,
    answers.endSchema,
    async (external, of, { name, message, stack, retryable }) => {
      const error = { message, ...(name !== undefined && { name }), ...(stack !== undefined && { stack }) };
      return ended(await external.fail(of, error, !retryable));
    },
  ),
  retryTaskLater: attempt(
    { verb: 'retry-later', operationId: 'retryTaskLater', summary: 'Let a task wait for `after`, which is no failure' },
    fields.retryLaterBody,
    answers.endSchema,
    async (external, of, { after }) => ended(await external.retryLater(of, after)),
  ),
  giveTaskBack: attempt(
    { verb: 'give-back', operationId: 'giveTaskBack', summary: 'Give a task back: another worker may have it at once' },
    fields.giveBackBody,
    answers.endSchema,
    async (external, of) => ended(await external.giveBack(of)),
  ),
};

function noteClaims(caller: Caller, claims: readonly ExternalClaim[]): void {
  const tasks = claims.map(({ claim }) => claim.task);
  for (const type of new Set(tasks.map((task) => task.type))) {
    const claimed = tasks.filter((task) => task.type === type);
    caller.limits.taskCalls.note('claim-tasks', caller, type, { first: claimed[0]!.id, count: claimed.length });
  }
}

/**
 * It contains the token's name, so that a token can't end the attempts of another one. Callers without a name of their own are
 * told apart by a key, of which the store has only a hash.
 */
function instanceOf({ user }: Caller, key?: string): string {
  if (key === undefined) return instanceOfProgram(user);
  return instanceOfProgram(`${user}#${createHash('sha256').update(key).digest('base64url').slice(0, HASH)}`);
}

/** @throws ProblemError for a task that the caller may not see, ReservedNameError, InvalidOptionsError without the key */
function attemptOf(
  caller: Caller,
  id: string,
  { token, key }: { readonly token: number; readonly key?: string | undefined },
) {
  expectTypesOpen(caller, [typeOfId(id)]);
  if (!caller.isNameless) return { id, token, instance: instanceOf(caller) };
  if (key !== undefined) return { id, token, instance: instanceOf(caller, key) };
  throw new InvalidOptionsError('the request', [
    'key: is missing: send that of the answer to the claim, because you have no name',
  ]);
}

/** @throws InvalidOptionsError if the lease is longer than the caller's longest */
function expectLease({ maxLease = LONGEST_LEASE }: Caller, lease: number): void {
  if (lease <= maxLease) return;
  const why = `${lease} ms is longer than ${maxLease} ms, the longest for your token (maxLease): renew it before it ends`;
  throw new InvalidOptionsError('the lease of a task', [`lease: ${why}`]);
}

function told({ claim: { task }, remaining }: ExternalClaim): answers.ClaimedTask {
  const { id, type, data, group, token, attempts, crashes, maxAttempts, submittedAt } = viewOf(task);
  return {
    id,
    type,
    ...(data !== undefined && { data }),
    token,
    attempt: attempts + crashes + 1,
    maxAttempts,
    ...(group && { group }),
    submittedAt,
    ...(task.trace !== undefined && { traceparent: task.trace }),
    expiresAt: Math.floor(task.at),
    remaining: Math.max(0, remaining),
  };
}

function ended(task: Task): answers.ChangedTask {
  const { id, state } = viewOf(task);
  return { id, state };
}
