import { timeOf } from '../../core/context/context.js';
import { TASK_PREFIX } from '../../core/decision/index.js';
import { type Parts, partsOf } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { type GroupCancelled, groupOfId, typeOfId } from '../../tasks/index.js';
import type { Sees, Visitor } from '../http/visitor.js';
import {
  type FoundGroupsAnswer,
  type InputOf,
  ROUTES,
  type SubTasksAnswer,
  type TaskGroupAnswer,
} from '../api/index.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import { Input, SeenNames, VisitorOf } from '../http/input.decorator.js';
import { ProblemError } from '../http/problem.error.js';
import { Serves } from '../http/handlers.js';
import { expectTypesSeen } from './task-names.js';

/** Serves groups of tasks and sub-tasks, for operators. */
@ConsoleController()
export class TaskGroupsController {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Serves(ROUTES.taskGroups)
  async list(
    @Input() { query: { type } }: InputOf<typeof ROUTES.taskGroups>,
    @VisitorOf() visitor: Visitor,
    @SeenNames() sees: Sees,
  ): Promise<FoundGroupsAnswer> {
    if (type !== undefined) expectTypesSeen(visitor, [type]);
    const { tasks, context } = partsOf(this.gatekeeper);
    const isWanted = (each: string) => !sees || sees(TASK_PREFIX + each);
    const { groups } = await tasks.open();
    return { now: timeOf(context), ...(await groups.search({ type, isWanted })) };
  }

  @Serves(ROUTES.taskGroup)
  async one(
    @Input() { params: { id }, query: { from, limit } }: InputOf<typeof ROUTES.taskGroup>,
    @VisitorOf() visitor: Visitor,
  ): Promise<TaskGroupAnswer> {
    const { tasks, context } = this.#seen(visitor, id);
    const { type, group } = groupOfId(id)!;
    const { groups } = await tasks.open();
    const page = await groups.page(type, group, from, limit);
    if (!page)
      throw new ProblemError('unknown-task', 'no such group is in the store: it was never submitted, or is over');
    return { now: timeOf(context), ...page };
  }

  @Serves(ROUTES.cancelTaskGroup)
  async cancel(
    @Input() { params: { id }, body }: InputOf<typeof ROUTES.cancelTaskGroup>,
    @VisitorOf() visitor: Visitor,
  ): Promise<GroupCancelled> {
    const { tasks, audit } = this.#seen(visitor, id);
    const { type, group } = groupOfId(id)!;
    const { user: by } = visitor;
    const entry = { action: 'cancel-group', semaphore: TASK_PREFIX + type, by, ...reasonOf(body), task: id } as const;
    const answer = await audit.evenIfUnknown(
      () => entry,
      () => tasks.cancelGroup(type, group, { ...body, by }),
    );
    if (answer.outcome === 'unknown') throw new ProblemError('unknown-task', answer.because);
    if (answer.outcome === 'cancelled') audit.note(entry);
    return answer;
  }

  /** Leaves out sub-tasks of types that the visitor may not see. */
  @Serves(ROUTES.subTasks)
  async subTasks(
    @Input() { params: { id }, query: { page } }: InputOf<typeof ROUTES.subTasks>,
    @VisitorOf() visitor: Visitor,
    @SeenNames() sees: Sees,
  ): Promise<SubTasksAnswer> {
    const { tasks, context } = this.#seen(visitor, id);
    const found = await tasks.subTasks(id, page - 1);
    if (!found) throw new ProblemError('unknown-task', 'no task of this id is in the store');
    const { subTasks, next } = found;
    const seen = subTasks.filter((each) => !sees || sees(TASK_PREFIX + typeOfId(each.id)));
    return { now: timeOf(context), subTasks: seen, ...(next !== undefined && { next: next + 1 }) };
  }

  /** @throws ProblemError for a type that the visitor may not see */
  #seen(visitor: Visitor, id: string): Parts {
    expectTypesSeen(visitor, [typeOfId(id)]);
    return partsOf(this.gatekeeper);
  }
}

function reasonOf({ reason }: { readonly reason?: string | undefined }): { reason?: string } {
  return reason === undefined ? {} : { reason };
}
