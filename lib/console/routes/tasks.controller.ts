import { timeOf } from '../../core/context/context.js';
import { InvalidOptionsError, TASK_PREFIX, show } from '../../core/decision/index.js';
import { type Parts, partsOf } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { UnknownOutcomeError } from '../../core/store/index.js';
import {
  detailsOf,
  nameOfId,
  typeOfId,
  type SubmitOptions,
  type TaskView,
  type Submitted,
  type Cancelled,
  type Released,
  type Retried,
  withoutSecrets,
} from '../../tasks/index.js';
import type { Sees, Visitor } from '../http/visitor.js';
import { ChangeRate } from '../access/change-rate.js';
import { TaskCalls } from '../access/task-calls.js';
import { type InputOf, ROUTES, type TaskAnswer, type TasksAnswer, includes } from '../api/index.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import { Input, SeenNames, VisitorOf } from '../http/input.decorator.js';
import { ProblemError } from '../http/problem.error.js';
import { Serves } from '../http/handlers.js';
import { expectTypesOpen, expectTypesSeen } from './task-names.js';

/** Serves tasks for operators, and takes submissions. */
@ConsoleController()
export class TasksController {
  constructor(
    private readonly gatekeeper: GatekeeperService,
    private readonly changeRate: ChangeRate,
    private readonly calls: TaskCalls,
  ) {}

  @Serves(ROUTES.submitTask)
  async submit(
    @Input() { body }: InputOf<typeof ROUTES.submitTask>,
    @VisitorOf() visitor: Visitor,
  ): Promise<Submitted> {
    const { id, total, data, ...given } = body;
    const { tasks } = this.#seen(visitor, id, ...(given.after ?? []));
    const name = nameOfId(id, total);
    expectTypesOpen(visitor, [name.type]);
    const options = optionsOf(id, given);
    this.changeRate.noteTaskCall(visitor);
    try {
      const submitted = await tasks.submitFor(visitor.user, name, data, options);
      if (submitted.outcome !== 'known') this.calls.note('submit-tasks', visitor, name.type, submitted.id);
      return submitted;
    } catch (error) {
      if (error instanceof UnknownOutcomeError) this.calls.note('submit-tasks', visitor, name.type, id);
      throw error;
    }
  }

  @Serves(ROUTES.task)
  async one(
    @Input() { params: { id } }: InputOf<typeof ROUTES.task>,
    @VisitorOf() visitor: Visitor,
  ): Promise<TaskAnswer> {
    const { tasks, context } = this.#seen(visitor, id);
    const details = detailsOf(await tasks.explain(id));
    if (typeof details === 'string') throw unknown(details);
    return { now: timeOf(context), task: visibleTo(visitor, details.task), explanation: details.explanation };
  }

  @Serves(ROUTES.tasks)
  async list(
    @Input() { query }: InputOf<typeof ROUTES.tasks>,
    @VisitorOf() visitor: Visitor,
    @SeenNames() sees: Sees,
  ): Promise<TasksAnswer> {
    const { type, ...asked } = query;
    if (type !== undefined) expectTypesSeen(visitor, [type]);
    const { tasks, context } = partsOf(this.gatekeeper);
    const isWanted = (each: string) => (type === undefined || each === type) && (!sees || sees(TASK_PREFIX + each));
    return { now: timeOf(context), ...(await tasks.list({ ...asked, isWanted })) };
  }

  @Serves(ROUTES.cancelTask)
  async cancel(
    @Input() { params: { id }, body }: InputOf<typeof ROUTES.cancelTask>,
    @VisitorOf() visitor: Visitor,
  ): Promise<Cancelled> {
    const parts = this.#seen(visitor, id);
    const entry = entryOf(visitor, { action: 'cancel-task', task: id, ...body });
    const cancelling = () => parts.tasks.cancel(id, { ...body, by: visitor.user });
    const answer = await parts.audit.evenIfUnknown(() => entry, cancelling);
    if (answer.outcome === 'unknown') throw unknown(answer.because);
    if (answer.outcome !== 'ended') parts.audit.note(entry);
    return answer;
  }

  @Serves(ROUTES.retryTask)
  async retry(
    @Input() { params: { id }, body }: InputOf<typeof ROUTES.retryTask>,
    @VisitorOf() visitor: Visitor,
  ): Promise<Retried> {
    const parts = this.#seen(visitor, id);
    const entry = entryOf(visitor, { action: 'retry-task', task: id, ...body });
    const answer = await parts.audit.evenIfUnknown(
      () => entry,
      () => parts.tasks.retry(id),
    );
    if (answer.outcome === 'unknown') throw unknown(answer.because);
    if (answer.outcome === 'refused') throw new ProblemError('retry-refused', `task ${show(id)}: ${answer.because}`);
    parts.audit.note(entry);
    return answer;
  }

  @Serves(ROUTES.releaseTask)
  async release(
    @Input() { params: { id }, body }: InputOf<typeof ROUTES.releaseTask>,
    @VisitorOf() visitor: Visitor,
  ): Promise<Released> {
    const parts = this.#seen(visitor, id);
    const entry = entryOf(visitor, { action: 'release-task', task: id, ...body });
    const answer = await parts.audit.evenIfUnknown(
      () => entry,
      () => parts.tasks.release(id),
    );
    if (answer.outcome === 'unknown') throw unknown(answer.because);
    if (answer.outcome === 'refused') throw new ProblemError('release-refused', `task ${show(id)}: ${answer.because}`);
    parts.audit.note(entry);
    return answer;
  }

  /** @throws ProblemError for a task or group that the visitor may not see */
  #seen(visitor: Visitor, ...ids: readonly string[]): Parts {
    expectTypesSeen(visitor, ids.map(typeOfId));
    return partsOf(this.gatekeeper);
  }
}

type Change = { action: 'cancel-task' | 'retry-task' | 'release-task'; task: string; reason?: string | undefined };

/** Entry of the audit log. */
function entryOf({ user: by }: Visitor, { action, task, reason }: Change) {
  return { action, semaphore: TASK_PREFIX + typeOfId(task), by, ...(reason !== undefined && { reason }), task };
}

function unknown(why: string): ProblemError {
  return new ProblemError('unknown-task', why);
}

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
function visibleTo({ role }: Visitor, task: TaskView): TaskView {
  return includes(role, 'operate') ? task : withoutSecrets(task);
}
