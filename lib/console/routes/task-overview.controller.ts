import { type Context, timeOf } from '../../core/context/context.js';
import { TASK_PREFIX, show } from '../../core/decision/index.js';
import { type NodeTasks, type Parts, partsOf } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import type { Sees, Visitor } from '../http/visitor.js';
import {
  type InputOf,
  type NodeWork,
  ROUTES,
  type SchedulesAnswer,
  type SwitchedAnswer,
  type TaskTypesAnswer,
} from '../api/index.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import { Input, SeenNames, VisitorOf } from '../http/input.decorator.js';
import { ProblemError } from '../http/problem.error.js';
import { Serves } from '../http/handlers.js';
import { expectTypesSeen } from './task-names.js';

/** Serves the types of tasks, for operators. */
@ConsoleController()
export class TaskOverviewController {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Serves(ROUTES.taskTypes)
  async types(@Input() { query }: InputOf<typeof ROUTES.taskTypes>, @SeenNames() sees: Sees): Promise<TaskTypesAnswer> {
    const parts = partsOf(this.gatekeeper);
    const { tasks, context } = parts;
    const { value: cards, stale } = await nodesOf(parts);
    const isWanted = (type: string) => !sees || sees(TASK_PREFIX + type);
    const isSeen = ({ type }: { readonly type: string }) => isWanted(type);
    const works = worksOf(cards, context, tasks.work.list(tasks.handlers));
    const isIdle = query.ifUsed === true && works.length === 0 && !tasks.opened;
    const waiting = isIdle ? { types: [], isCut: false } : await tasks.waitingTypes(isWanted);
    const seen = works.map(({ node, types }) => ({ node, types: types.filter(isSeen) }));
    return {
      now: timeOf(context),
      waiting: waiting.types,
      isCut: waiting.isCut,
      here: tasks.handlers.types().filter(isSeen),
      nodes: seen.filter(({ types }) => types.length > 0),
      stale,
    };
  }

  @Serves(ROUTES.schedules)
  async schedules(@SeenNames() sees: Sees): Promise<SchedulesAnswer> {
    const { tasks, context } = partsOf(this.gatekeeper);
    const schedules = await tasks.schedules.list();
    return { now: timeOf(context), schedules: schedules.filter(({ type }) => !sees || sees(TASK_PREFIX + type)) };
  }

  @Serves(ROUTES.typeOff)
  off(@Input() input: InputOf<typeof ROUTES.typeOff>, @VisitorOf() visitor: Visitor): SwitchedAnswer {
    return this.#switch(input, visitor, true);
  }

  @Serves(ROUTES.typeOn)
  on(@Input() input: InputOf<typeof ROUTES.typeOn>, @VisitorOf() visitor: Visitor): SwitchedAnswer {
    return this.#switch(input, visitor, false);
  }

  #switch(
    { params: { type }, body }: InputOf<typeof ROUTES.typeOff>,
    visitor: Visitor,
    isOff: boolean,
  ): SwitchedAnswer {
    expectTypesSeen(visitor, [type]);
    const { tasks, audit, context } = partsOf(this.gatekeeper);
    const { node, reason } = body;
    if (node !== context.node.instance) throw new ProblemError('other-node', OTHER_NODE(context.node));
    if (isOff) tasks.handlers.pauseType(type);
    else tasks.handlers.resumeType(type);
    audit.note({
      action: isOff ? 'type-off' : 'type-on',
      semaphore: TASK_PREFIX + type,
      by: visitor.user,
      ...(reason !== undefined && { reason }),
      target: context.node,
    });
    return { type, isOff, note: isOff ? OFF(type) : ON(type) };
  }
}

const OFF = (type: string) =>
  `the node takes no more tasks of type ${show(type)} until it is switched on again, or restarts: then it takes them again. ` +
  `To stop the type for longer, pause ${TASK_PREFIX}${type} in the whole cluster`;
const ON = (type: string) => `the node takes tasks of type ${show(type)} again`;

const OTHER_NODE = ({ acquirer, instance }: Context['node']) =>
  `the node ${show(acquirer)} (${instance}) answered; a type is switched by its own node only: ask that node's address`;

function nodesOf({ health, registry }: Parts) {
  return health.read(
    'nodes',
    () => registry.nodes(),
    () => registry.known,
  );
}

interface Card {
  readonly group: string;
  readonly acquirer: string;
  readonly instance: string;
  readonly tasks?: readonly NodeTasks[] | undefined;
}

/** The nodes that handle tasks. The answering node is first, as it is now: its entry is as old as its last heartbeat. */
function worksOf(cards: readonly Card[], { node }: Pick<Context, 'node'>, own: readonly NodeTasks[]): NodeWork[] {
  const others = cards.filter(({ instance }) => instance !== node.instance);
  const works = others.map(({ group, acquirer, instance, tasks = [] }) => {
    return { node: { group, acquirer, instance }, types: tasks };
  });
  return [{ node, types: own }, ...works].filter(({ types }) => types.length > 0);
}
