import { timeOf } from '../../context/context.js';
import { instanceOfProgram } from '../../context/node-identity.js';
import { partsOf } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import {
  type AttemptEnd,
  type ExternalClaim,
  type ExternalTasks,
  type Task,
  typeOfId,
  viewOf,
} from '../../tasks/index.js';
import { quoted } from '../../decision/index.js';
import { ChangeRate } from '../access/change-rate.js';
import { TaskCalls } from '../access/task-calls.js';
import type { Visitor } from '../access/tokens.js';
import { type ChangedTask, type ClaimedTask, type ClaimsAnswer, type InputOf, ROUTES } from '../api/index.js';
import { ClientAbort } from '../http/client-abort.decorator.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import { Input, VisitorOf } from '../http/input.decorator.js';
import { ProblemError } from '../http/problem.error.js';
import { Serves } from '../http/serves.decorator.js';
import { expectTypesOpen } from './task-names.js';
import { Waits } from './waits.js';

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
    const worker = { instance: instanceOf(visitor), acquirer, ...(group !== undefined && { group }) };
    const request = { worker, types: [...new Set(types)], most, lease, wait, signal };
    this.changeRate.noteTaskCall(visitor);
    const claiming = () => this.#external.claim(request);
    const { tasks, denied } = await (wait > 0 ? this.#waits.during(visitor.user, claiming) : claiming());
    this.#noteClaims(visitor, tasks);
    return { now: timeOf(partsOf(this.gatekeeper).context), tasks: tasks.map(told), denied };
  }

  @Serves(ROUTES.renewTask)
  async renew(
    @Input() { params: { id }, body }: InputOf<typeof ROUTES.renewTask>,
    @VisitorOf() visitor: Visitor,
  ): Promise<{ remaining: number }> {
    const renewed = await this.#external.renew(attemptOf(visitor, id, body), body.lease, body.progress);
    if ('remaining' in renewed) return { remaining: renewed.remaining };
    const { type, reason } = renewed;
    const code = reason === 'permit-lost' ? reason : 'denied';
    throw new ProblemError(code, `no permit of the limit of type ${quoted(type)}: ${reason}`, { reason });
  }

  @Serves(ROUTES.completeTask)
  complete(@Input() { params: { id }, body }: InputOf<typeof ROUTES.completeTask>, @VisitorOf() visitor: Visitor) {
    return this.#counted('completed', this.#external.complete(attemptOf(visitor, id, body), body.result));
  }

  @Serves(ROUTES.failTask)
  fail(@Input() { params: { id }, body }: InputOf<typeof ROUTES.failTask>, @VisitorOf() visitor: Visitor) {
    const { name, message, stack, retryable } = body;
    const error = { message, ...(name !== undefined && { name }), ...(stack !== undefined && { stack }) };
    return this.#counted('failed', this.#external.fail(attemptOf(visitor, id, body), error, !retryable));
  }

  @Serves(ROUTES.retryTaskLater)
  retryLater(@Input() { params: { id }, body }: InputOf<typeof ROUTES.retryTaskLater>, @VisitorOf() visitor: Visitor) {
    return ended(this.#external.retryLater(attemptOf(visitor, id, body), body.after));
  }

  @Serves(ROUTES.giveTaskBack)
  giveBack(@Input() { params: { id }, body }: InputOf<typeof ROUTES.giveTaskBack>, @VisitorOf() visitor: Visitor) {
    return ended(this.#external.giveBack(attemptOf(visitor, id, body)));
  }

  #noteClaims(visitor: Visitor, claims: readonly ExternalClaim[]): void {
    const tasks = claims.map(({ claim }) => claim.task);
    for (const type of new Set(tasks.map((task) => task.type))) {
      const claimed = tasks.filter((task) => task.type === type);
      this.calls.note('claim-tasks', visitor, type, claimed[0]!.id, claimed.length);
    }
  }

  /** A call that is repeated after a lost answer counts again: the counts are only for people. */
  async #counted(end: AttemptEnd, ending: Promise<Task>): Promise<ChangedTask> {
    const task = await ending;
    partsOf(this.gatekeeper).tasks.work.programs.note(task.type, end);
    return ended(Promise.resolve(task));
  }

  get #external(): ExternalTasks {
    return partsOf(this.gatekeeper).tasks.external;
  }
}

/** It contains the token's name, so that a token can't end the attempts of another one. */
function instanceOf({ user }: Visitor): string {
  return instanceOfProgram(user);
}

/** @throws ProblemError for a task that the visitor may not see, ReservedNameError */
function attemptOf(visitor: Visitor, id: string, { token }: { readonly token: number }) {
  expectTypesOpen(visitor, [typeOfId(id)]);
  return { id, token, instance: instanceOf(visitor) };
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

async function ended(ending: Promise<Task>): Promise<ChangedTask> {
  const { id, state } = viewOf(await ending);
  return { id, state };
}
