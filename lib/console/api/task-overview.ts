import { z } from 'zod';
import { type Context, timeOf } from '../../core/context/context.js';
import { staleOf } from '../../core/context/stale.js';
import { TASK_PREFIX, omitUndefined, onlyFields, show } from '../../core/decision/index.js';
import type { NodeTasks, Parts } from '../../gatekeeper/index.js';
import { groupOfId, typeOfId } from '../../tasks/index.js';
import { groupCancelledSchema } from '../../tasks/rules/answers.js';
import { type HandledType, type WaitingType, handledTypeSchema, waitingTypeSchema } from '../../tasks/rules/views.js';
import { nodeTasksSchema } from '../../tasks/overview/node-tasks.js';
import type { Caller } from './caller.js';
import { nodeIdentitySchema } from '../../core/context/node-identity.js';
import { staleShape } from '../../core/context/stale-answers.js';
import { list, time } from '../../core/decision/answer-values.js';
import { name, reason } from './fields.js';
import { operation } from './operation.js';
import { ProblemError } from './problem.error.js';
import * as fields from './task-fields.js';
import * as answers from './task-group-answers.js';
import { expectTypesSeen } from './task-names.js';

const nodeWorkSchema = z.object({ node: nodeIdentitySchema, types: list(nodeTasksSchema) }).meta({ id: 'NodeWork' });

/** The work of one node on tasks. */
export type NodeWork = z.output<typeof nodeWorkSchema>;

const taskTypesSchema = z
  .object({
    now: time,
    waiting: list<WaitingType>(waitingTypeSchema).meta({ description: 'types of which tasks wait; at most 100' }),
    isCut: z.boolean().meta({ description: 'whether more types may wait than are in the list' }),
    here: list<HandledType>(handledTypeSchema).meta({ description: 'types that the answering node handles' }),
    nodes: list(nodeWorkSchema).meta({
      description: 'the living nodes that handle tasks, as of their last heartbeat; the answering node as of now',
    }),
    ...staleShape,
  })
  .meta({ id: 'TaskTypeList' });
export type TaskTypesAnswer = z.output<typeof taskTypesSchema>;

const body = onlyFields({ reason: reason.optional() }).meta({ id: 'GroupCancelRequest' });
const switchBody = onlyFields({
  node: name.meta({ description: 'instance of the node; only the node itself can do it' }),
  reason: reason.optional(),
}).meta({ id: 'SwitchTaskTypeRequest' });

const switched = (verb: 'off' | 'on', operationId: string, summary: string) =>
  operation({
    operationId,
    method: 'POST',
    path: `api/task-types/:type/${verb}`,
    summary,
    description: '`node` is its instance; another node answers 409 `other-node`.',
    role: 'operate',
    writes: true,
    params: fields.typeParams,
    body: switchBody,
    answer: answers.switchedSchema,
    problems: ['other-node'],
    run: ({ tasks, audit, context }, { params: { type }, body: { node, reason: why } }, caller) => {
      expectTypesSeen(caller, [type]);
      if (node !== context.node.instance) throw new ProblemError('other-node', OTHER_NODE(context.node));
      const isOff = verb === 'off';
      if (isOff) tasks.handlers.pauseType(type);
      else tasks.handlers.resumeType(type);
      audit.note({
        action: `type-${verb}`,
        semaphore: TASK_PREFIX + type,
        by: caller.user,
        ...omitUndefined({ reason: why }),
        target: context.node,
      });
      return { type, isOff, note: isOff ? OFF(type) : ON(type) };
    },
  });

/** Shows groups, sub-tasks, schedules and the types of each node to operators. */
export const TASK_OVERVIEW_OPERATIONS = {
  taskTypes: operation({
    operationId: 'listTaskTypes',
    method: 'GET',
    path: 'api/task-types',
    summary: 'Types of which tasks wait, and the types that each node handles, with their work in the last minute',
    description:
      '`waiting` has up to 100 types of which tasks wait, and about how many; `isCut`: whether more may wait. `here` has those ' +
      'that the node handles, with what keeps them; `nodes` those of each node. `ifUsed=true`: the store is asked for nothing ' +
      'if no living node uses tasks.',
    role: 'view',
    query: fields.taskTypesQuery,
    answer: taskTypesSchema,
    run: async (parts, { query }, { sees }) => {
      const { tasks, context } = parts;
      const listed = await nodesOf(parts);
      const isWanted = (type: string) => !sees || sees(TASK_PREFIX + type);
      const isSeen = ({ type }: { readonly type: string }) => isWanted(type);
      const works = worksOf(listed.value, context, tasks.work.list(tasks.handlers));
      const isIdle = query.ifUsed === true && works.length === 0 && !tasks.opened;
      const waiting = isIdle ? { types: [], isCut: false } : await tasks.waitingTypes(isWanted);
      const seen = works.map(({ node, types }) => ({ node, types: types.filter(isSeen) }));
      return {
        now: timeOf(context),
        waiting: waiting.types,
        isCut: waiting.isCut,
        here: tasks.handlers.types().filter(isSeen),
        nodes: seen.filter(({ types }) => types.length > 0),
        ...staleOf(listed),
      };
    },
  }),
  taskGroups: operation({
    operationId: 'listTaskGroups',
    method: 'GET',
    path: 'api/task-groups',
    summary: 'Groups of the first 100 tasks of each state, at most 50',
    description:
      'Those that have not ended come first, then the newest (`begunAt`). `isCut`: there may be more. `leftOut`: groups that ' +
      'the node can not read.',
    role: 'view',
    query: fields.taskGroupsQuery,
    answer: answers.foundGroupsSchema,
    run: async ({ tasks, context }, { query: { type } }, caller) => {
      if (type !== undefined) expectTypesSeen(caller, [type]);
      const { sees } = caller;
      const isWanted = (each: string) => !sees || sees(TASK_PREFIX + each);
      const { groups } = await tasks.open();
      return { now: timeOf(context), ...(await groups.search({ type, isWanted })) };
    },
  }),
  taskGroup: operation({
    operationId: 'getTaskGroup',
    method: 'GET',
    path: 'api/task-groups/:id',
    summary: 'One group such as `import[june]` with its counts, and a page of its members',
    description: 'The page has up to `limit` (100) members `from` a number.',
    role: 'view',
    params: fields.taskGroupParams,
    query: fields.membersQuery,
    answer: answers.groupPageSchema,
    problems: ['unknown-task', 'corrupt-record', 'newer-record'],
    run: async ({ tasks, context }, { params, query: { from, limit } }, caller) => {
      const { type, group } = seenGroup(caller, params.id);
      const { groups } = await tasks.open();
      const page = await groups.page(type, group, from, limit);
      if (!page) throw new ProblemError('unknown-task', NO_GROUP);
      return { now: timeOf(context), ...page };
    },
  }),
  cancelTaskGroup: operation({
    operationId: 'cancelTaskGroup',
    method: 'POST',
    path: 'api/task-groups/:id/cancel',
    summary: 'Cancel all members of a group that have not ended',
    description: 'See docs/tasks.md#end-a-group.',
    role: 'operate',
    writes: true,
    params: fields.taskGroupParams,
    body,
    answer: groupCancelledSchema,
    problems: ['unknown-task'],
    run: async ({ tasks, audit }, { params: { id }, body: sent }, caller) => {
      const { type, group } = seenGroup(caller, id);
      const meta = { by: caller.user, ...omitUndefined(sent) };
      const entry = { action: 'cancel-group', semaphore: TASK_PREFIX + type, ...meta, task: id } as const;
      const answer = await audit.evenIfUnknown(
        () => entry,
        () => tasks.cancelGroup(type, group, meta),
      );
      if (answer.outcome === 'unknown') throw new ProblemError('unknown-task', answer.because);
      if (answer.outcome === 'cancelled') audit.note(entry);
      return answer;
    },
  }),
  /** Leaves out sub-tasks of types that the caller may not see. */
  subTasks: operation({
    operationId: 'listSubTasks',
    method: 'GET',
    path: 'api/tasks/:id/sub-tasks',
    summary: 'A page of the sub-tasks of a task, and of groups of sub-tasks, at most 128',
    description: 'The first `page` is 1. `isUnreadable`: the node can not read that sub-task.',
    role: 'view',
    params: fields.taskParams,
    query: fields.subTasksQuery,
    answer: answers.subTasksSchema,
    problems: ['unknown-task', 'corrupt-record', 'newer-record'],
    run: async ({ tasks, context }, { params: { id }, query: { page } }, caller) => {
      expectTypesSeen(caller, [typeOfId(id)]);
      const found = await tasks.subTasks(id, page - 1);
      if (!found) throw new ProblemError('unknown-task', 'no task of this id is in the store');
      const { subTasks, next } = found;
      const seen = subTasks.filter((each) => !caller.sees || caller.sees(TASK_PREFIX + typeOfId(each.id)));
      return { now: timeOf(context), subTasks: seen, ...(next !== undefined && { next: next + 1 }) };
    },
  }),
  schedules: operation({
    operationId: 'listSchedules',
    method: 'GET',
    path: 'api/schedules',
    summary: 'The schedules of the cluster, with their next and last planned time',
    description:
      '`isUnreadable`: the node can not read that schedule. `silentUntil`: none runs until then, because the clock of the store was set ' +
      'back. See docs/tasks.md#schedules.',
    role: 'view',
    answer: answers.schedulesSchema,
    run: async ({ tasks, context }, _input, { sees }) => {
      const schedules = await tasks.schedules.list();
      return { now: timeOf(context), schedules: schedules.filter(({ type }) => !sees || sees(TASK_PREFIX + type)) };
    },
  }),
  typeOff: switched('off', 'switchTaskTypeOff', 'Take no more tasks of a type on the answering node until it restarts'),
  typeOn: switched('on', 'switchTaskTypeOn', 'Take tasks of a type again on the answering node'),
};

/** @throws ProblemError for a type that the caller may not see */
function seenGroup(caller: Caller, id: string): { readonly type: string; readonly group: string } {
  expectTypesSeen(caller, [typeOfId(id)]);
  return groupOfId(id)!;
}

const NO_GROUP = 'no such group is in the store: it was never submitted, or is over';
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
