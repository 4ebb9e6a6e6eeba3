import { timeOf } from '../../context/context.js';
import { InvalidOptionsError, TASK_PREFIX, show } from '../../decision/index.js';
import { type Parts, partsOf } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import type { SubmitOptions, TaskView, Submitted, Cancelled, Retried } from '../../tasks/index.js';
import type { Visitor } from '../access/tokens.js';
import { type InputOf, ROUTES, type TaskAnswer, includes, typeOfId } from '../api/index.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import { Input, VisitorOf } from '../http/input.decorator.js';
import { ProblemError } from '../http/problem.error.js';
import { Serves } from '../http/serves.decorator.js';
import { expectTypesSeen, nameOf } from './task-names.js';

/** Serves tasks for operators, and takes submissions. */
@ConsoleController()
export class TasksController {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Serves(ROUTES.submitTask)
  submit(@Input() { body }: InputOf<typeof ROUTES.submitTask>, @VisitorOf() visitor: Visitor): Promise<Submitted> {
    const { id, total, data, ...given } = body;
    const { tasks } = this.#seen(visitor, id);
    const name = nameOf(id, total);
    const options = optionsOf(id, given);
    tasks.external.expectTypes([name.type]);
    return tasks.submit(name, data, options);
  }

  @Serves(ROUTES.task)
  async one(
    @Input() { params: { id } }: InputOf<typeof ROUTES.task>,
    @VisitorOf() visitor: Visitor,
  ): Promise<TaskAnswer> {
    const { tasks, context } = this.#seen(visitor, id);
    const explained = await tasks.explain(id);
    if (explained.reason === 'unknown' || explained.reason === 'skipped') throw unknown(explained.sentence);
    const { task, reason, sentence } = explained;
    const until = 'until' in explained ? explained.until : undefined;
    const groupWaitsFor = 'groupWaitsFor' in explained ? explained.groupWaitsFor : undefined;
    return {
      now: timeOf(context),
      task: visibleTo(visitor, task),
      explanation: { reason, sentence, ...(until !== undefined && { until }), ...(groupWaitsFor && { groupWaitsFor }) },
    };
  }

  @Serves(ROUTES.cancelTask)
  async cancel(
    @Input() { params: { id }, body }: InputOf<typeof ROUTES.cancelTask>,
    @VisitorOf() visitor: Visitor,
  ): Promise<Cancelled> {
    const parts = this.#seen(visitor, id);
    const answer = await parts.tasks.cancel(id, { ...body, by: visitor.user });
    if (answer.outcome === 'unknown') throw unknown(answer.because);
    if (answer.outcome !== 'ended') note(parts, visitor, { action: 'cancel-task', task: id, ...body });
    return answer;
  }

  @Serves(ROUTES.retryTask)
  async retry(
    @Input() { params: { id }, body }: InputOf<typeof ROUTES.retryTask>,
    @VisitorOf() visitor: Visitor,
  ): Promise<Retried> {
    const parts = this.#seen(visitor, id);
    const answer = await parts.tasks.retry(id);
    if (answer.outcome === 'unknown') throw unknown(answer.because);
    if (answer.outcome === 'refused') throw new ProblemError('retry-refused', `task ${show(id)}: ${answer.because}`);
    note(parts, visitor, { action: 'retry-task', task: id, ...body });
    return answer;
  }

  /** @throws ProblemError for a task that the visitor may not see */
  #seen(visitor: Visitor, id: string): Parts {
    expectTypesSeen(visitor, [typeOfId(id)]);
    return partsOf(this.gatekeeper);
  }
}

type Change = { action: 'cancel-task' | 'retry-task'; task: string; reason?: string | undefined };

function note({ audit }: Parts, { user: by }: Visitor, { action, task, reason }: Change): void {
  audit.note({ action, semaphore: TASK_PREFIX + typeOfId(task), by, ...(reason !== undefined && { reason }), task });
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

/** Data, results and stacks may contain secrets. A role that may claim tasks sees them in any case. */
function visibleTo({ role }: Visitor, task: TaskView): TaskView {
  if (includes(role, 'operate')) return task;
  const { data: _data, result: _result, lastError, ...others } = task;
  if (!lastError) return others;
  const { stack: _stack, ...error } = lastError;
  return { ...others, lastError: error };
}
