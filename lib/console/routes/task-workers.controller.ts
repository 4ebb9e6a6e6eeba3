import { createHash, randomUUID } from 'node:crypto';
import { timeOf } from '../../core/context/context.js';
import { instanceOfProgram } from '../../core/context/node-identity.js';
import { partsOf } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { type ExternalClaim, type ExternalTasks, type Task, typeOfId, viewOf } from '../../tasks/index.js';
import { InvalidOptionsError, quoted } from '../../core/decision/index.js';
import { ChangeRate } from '../access/change-rate.js';
import { TaskCalls } from '../access/task-calls.js';
import type { Visitor } from '../http/visitor.js';
import { type ChangedTask, type ClaimedTask, type ClaimsAnswer, type InputOf, ROUTES } from '../api/index.js';
import { ClientAbort } from '../http/client-abort.decorator.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import { Input, VisitorOf } from '../http/input.decorator.js';
import { ProblemError } from '../http/problem.error.js';
import { Serves } from '../http/handlers.js';
import { expectTypesOpen } from './task-names.js';
import { Waits } from './waits.js';

/** ms of the longest lease of a token without the option `maxLease`. */
const LONGEST_LEASE = 3_600_000;
/** Characters of the hash of a key: 132 bits. */
const HASH = 22;

/**
 * Serves tasks for workers that are not nodes: scripts and programs in other languages. A worker may ask any node each
 * time. Like a permit, a task belongs to the name of the token that claimed it.
 */
@ConsoleController()
export class TaskWorkersController {
  readonly #waits = new Waits();

  constructor(
    private readonly gatekeeper: GatekeeperService,
    private readonly changeRate: ChangeRate,
    private readonly calls: TaskCalls,
  ) {}

  @Serves(ROUTES.claimTasks)
  async claim(
    @Input() { body }: InputOf<typeof ROUTES.claimTasks>,
    @VisitorOf() visitor: Visitor,
    @ClientAbort() signal: AbortSignal,
  ): Promise<ClaimsAnswer> {
    const { types, max: most, lease, wait, acquirer = visitor.user, group } = body;
    expectTypesOpen(visitor, types);
    expectLease(visitor, lease);
    const key = visitor.isNameless ? (body.key ?? randomUUID()) : undefined;
    const worker = { instance: instanceOf(visitor, key), acquirer, ...(group !== undefined && { group }) };
    const request = { worker, program: visitor.user, types: [...new Set(types)], most, lease, wait, signal };
    this.changeRate.noteTaskCall(visitor);
    const claiming = async () => (await this.#external()).claim(request);
    const { tasks, denied } = await (wait > 0 ? this.#waits.during(visitor.user, claiming) : claiming());
    this.#noteClaims(visitor, tasks);
    return {
      now: timeOf(partsOf(this.gatekeeper).context),
      tasks: tasks.map(told),
      denied,
      ...(key !== undefined && { key }),
    };
  }

  @Serves(ROUTES.renewTask)
  async renew(
    @Input() { params: { id }, body }: InputOf<typeof ROUTES.renewTask>,
    @VisitorOf() visitor: Visitor,
  ): Promise<{ remaining: number }> {
    expectLease(visitor, body.lease);
    const attempt = attemptOf(visitor, id, body);
    const renewed = await (await this.#external()).renew(attempt, body.lease, body.progress);
    if ('remaining' in renewed) return { remaining: renewed.remaining };
    const { type, reason } = renewed;
    const code = reason === 'permit-lost' ? reason : 'denied';
    throw new ProblemError(code, `no permit of the limit of type ${quoted(type)}: ${reason}`, { reason });
  }

  @Serves(ROUTES.completeTask)
  async complete(
    @Input() { params: { id }, body }: InputOf<typeof ROUTES.completeTask>,
    @VisitorOf() visitor: Visitor,
  ) {
    const attempt = attemptOf(visitor, id, body);
    return ended(await (await this.#external()).complete(attempt, body.result));
  }

  @Serves(ROUTES.failTask)
  async fail(@Input() { params: { id }, body }: InputOf<typeof ROUTES.failTask>, @VisitorOf() visitor: Visitor) {
    const { name, message, stack, retryable } = body;
    const error = { message, ...(name !== undefined && { name }), ...(stack !== undefined && { stack }) };
    const attempt = attemptOf(visitor, id, body);
    return ended(await (await this.#external()).fail(attempt, error, !retryable));
  }

  @Serves(ROUTES.retryTaskLater)
  async retryLater(
    @Input() { params: { id }, body }: InputOf<typeof ROUTES.retryTaskLater>,
    @VisitorOf() visitor: Visitor,
  ) {
    const attempt = attemptOf(visitor, id, body);
    return ended(await (await this.#external()).retryLater(attempt, body.after));
  }

  @Serves(ROUTES.giveTaskBack)
  async giveBack(
    @Input() { params: { id }, body }: InputOf<typeof ROUTES.giveTaskBack>,
    @VisitorOf() visitor: Visitor,
  ) {
    const attempt = attemptOf(visitor, id, body);
    return ended(await (await this.#external()).giveBack(attempt));
  }

  #noteClaims(visitor: Visitor, claims: readonly ExternalClaim[]): void {
    const tasks = claims.map(({ claim }) => claim.task);
    for (const type of new Set(tasks.map((task) => task.type))) {
      const claimed = tasks.filter((task) => task.type === type);
      this.calls.note('claim-tasks', visitor, type, claimed[0]!.id, claimed.length);
    }
  }

  async #external(): Promise<ExternalTasks> {
    return (await partsOf(this.gatekeeper).tasks.open()).external;
  }
}

/**
 * It contains the token's name, so that a token can't end the attempts of another one. Visitors without a name of their own are
 * told apart by a key, of which the store has only a hash.
 */
function instanceOf({ user }: Visitor, key?: string): string {
  if (key === undefined) return instanceOfProgram(user);
  return instanceOfProgram(`${user}#${createHash('sha256').update(key).digest('base64url').slice(0, HASH)}`);
}

/** @throws ProblemError for a task that the visitor may not see, ReservedNameError, InvalidOptionsError without the key */
function attemptOf(
  visitor: Visitor,
  id: string,
  { token, key }: { readonly token: number; readonly key?: string | undefined },
) {
  expectTypesOpen(visitor, [typeOfId(id)]);
  if (!visitor.isNameless) return { id, token, instance: instanceOf(visitor) };
  if (key !== undefined) return { id, token, instance: instanceOf(visitor, key) };
  throw new InvalidOptionsError('the request', [
    'key: is missing: send that of the answer to the claim, because you have no name',
  ]);
}

/** @throws InvalidOptionsError if the lease is longer than the visitor's longest */
function expectLease({ maxLease = LONGEST_LEASE }: Visitor, lease: number): void {
  if (lease <= maxLease) return;
  const why = `${lease} ms is longer than ${maxLease} ms, the longest for your token (maxLease): renew it before it ends`;
  throw new InvalidOptionsError('the lease of a task', [`lease: ${why}`]);
}

function told({ claim: { task }, remaining }: ExternalClaim): ClaimedTask {
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

function ended(task: Task): ChangedTask {
  const { id, state } = viewOf(task);
  return { id, state };
}
