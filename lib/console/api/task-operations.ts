import { onlyFields } from '../../core/decision/index.js';
import { reason, name } from './fields.js';
import { type DocumentedRoute, route } from './route.js';
import * as fields from './task-fields.js';
import * as answers from './task-group-answers.js';

/* The calls about groups, sub-tasks, schedules and the types of one node, for operators. */

const body = onlyFields({ reason: reason.optional() }).meta({ id: 'GroupCancelRequest' });
const switchBody = onlyFields({
  node: name.meta({ description: 'instance of the node; only the node itself can do it' }),
  reason: reason.optional(),
}).meta({ id: 'SwitchTaskTypeRequest' });

const switched = (verb: 'off' | 'on', operationId: string, summary: string) =>
  route({
    operationId,
    method: 'POST',
    path: `api/task-types/:type/${verb}`,
    summary,
    role: 'operate',
    writes: true,
    params: fields.typeParams,
    body: switchBody,
    answer: answers.switchedSchema,
    problems: ['other-node'],
  });

export const TASK_OPERATION_ROUTES = {
  taskGroups: route({
    operationId: 'listTaskGroups',
    method: 'GET',
    path: 'api/task-groups',
    summary: 'Groups of the first tasks of each state, at most 50',
    role: 'view',
    query: fields.taskGroupsQuery,
    answer: answers.foundGroupsSchema,
  }),
  taskGroup: route({
    operationId: 'getTaskGroup',
    method: 'GET',
    path: 'api/task-groups/:id',
    summary: 'One group with its counts, and a page of its members',
    role: 'view',
    params: fields.taskGroupParams,
    query: fields.membersQuery,
    answer: answers.groupPageSchema,
    problems: ['unknown-task', 'corrupt-record', 'newer-record'],
  }),
  cancelTaskGroup: route({
    operationId: 'cancelTaskGroup',
    method: 'POST',
    path: 'api/task-groups/:id/cancel',
    summary: 'Cancel all members of a group that have not ended',
    role: 'operate',
    writes: true,
    params: fields.taskGroupParams,
    body,
    answer: answers.groupCancelledSchema,
    problems: ['unknown-task'],
  }),
  subTasks: route({
    operationId: 'listSubTasks',
    method: 'GET',
    path: 'api/tasks/:id/sub-tasks',
    summary: 'A page of the sub-tasks of a task, at most 128',
    role: 'view',
    params: fields.taskParams,
    query: fields.subTasksQuery,
    answer: answers.subTasksSchema,
    problems: ['unknown-task', 'corrupt-record', 'newer-record'],
  }),
  schedules: route({
    operationId: 'listSchedules',
    method: 'GET',
    path: 'api/schedules',
    summary: 'The schedules of the cluster, with their next and last planned time',
    role: 'view',
    answer: answers.schedulesSchema,
  }),
  typeOff: switched('off', 'switchTaskTypeOff', 'Take no more tasks of a type on the answering node until it restarts'),
  typeOn: switched('on', 'switchTaskTypeOn', 'Take tasks of a type again on the answering node'),
} as const satisfies Record<string, DocumentedRoute>;
