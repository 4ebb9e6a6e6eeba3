import { groupType } from '../rules/task-id.js';
import { givenName } from '../rules/sub-name.js';
import type { Ending, NextLife, Task, TaskState } from '../rules/task.js';
import { instanceIn } from '../rules/claim.js';
import type { TaskFault } from '../rules/task-parts.js';
import type { TaskView, TaskViewState } from '../rules/views.js';

/** The public form of a task: without the fields that only the protocol needs. */
export function viewOf(task: Task): TaskView {
  const { id, type, priority, attempts, crashes, token, submittedAt, limits, error, cancel, sub, next } = task;
  const ending = task.state === 'awaiting' ? undefined : task.ending;
  const { maxAttempts, maxCrashes } = limits;
  const group = groupOf(task);
  return {
    id,
    type: groupType(type),
    state: ending ? ending.outcome : STATES[task.state],
    priority,
    ...(group && { group }),
    ...(sub && { parent: sub.parent }),
    ...(task.split !== undefined && { split: true as const }),
    ...(task.data !== undefined && { data: task.data }),
    ...(task.to && { to: task.to }),
    ...(task.fairKey !== undefined && { fairKey: task.fairKey }),
    attempts,
    maxAttempts,
    crashes,
    maxCrashes,
    token,
    submittedAt,
    ...(task.state === 'delayed' && { runAt: task.at }),
    ...(task.queue !== undefined && { queue: task.queue }),
    ...(task.state === 'blocked' && blockOf(task)),
    ...(task.state === 'claimed' && { lease: { instance: instanceIn(task.owner!), until: task.at } }),
    ...(task.progress && { progress: task.progress }),
    ...(error && { lastError: error }),
    ...(task.past && { pastAttempts: task.past }),
    ...(cancel && { cancel }),
    ...(next && { next: nextOf(next) }),
    ...(ending && endOf(task, ending)),
  };
}

/** A state without an ending. Ended tasks have one. */
const STATES: Record<TaskState, TaskViewState> = {
  waiting: 'waiting',
  delayed: 'delayed',
  blocked: 'blocked',
  claimed: 'running',
  awaiting: 'awaiting',
  done: 'completed',
  finished: 'completed',
};

/** Data, results and stacks may contain secrets. */
export function withoutSecrets({ data: _data, result: _result, lastError, next, ...others }: TaskView): TaskView {
  const { stack: _stack, ...error } = lastError ?? {};
  const { data: _later, ...later } = next ?? {};
  return {
    ...others,
    ...(lastError && { lastError: error as TaskFault }),
    ...(next && { next: later as NonNullable<TaskView['next']> }),
  };
}

function nextOf({ data, priority, runAt }: NextLife): TaskView['next'] {
  return { priority, ...(data !== undefined && { data }), ...(runAt !== undefined && { runAt }) };
}

function groupOf({ member, join }: Task): TaskView['group'] {
  if (member) return { name: givenName(member.group), number: member.number };
  return join && { name: givenName(join.group) };
}

function blockOf({ after = [], runAt }: Task) {
  return { after: after.map(({ id }) => id), ...(runAt !== undefined && { runAt }) };
}

function endOf({ state, at }: Task, { at: endedAt, result, subTasks }: Ending) {
  return {
    endedAt,
    ...(state === 'finished' && { keptUntil: at }),
    ...(result !== undefined && { result }),
    ...(subTasks && { subTasks }),
  };
}
