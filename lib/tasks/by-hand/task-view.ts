import { groupType } from '../rules/task-id.js';
import { givenName } from '../rules/sub-name.js';
import type {
  Cancellation,
  Ending,
  GroupCounts,
  NextLife,
  Outcome,
  PastAttempt,
  Priority,
  Task,
  TaskFault,
  TaskProgress,
  TaskState,
} from '../rules/task.js';
import type { TaskTarget } from '../rules/target.js';
import { instanceIn } from '../rules/claim.js';

/** State of a task for people: where it is, or how it ended. */
export type TaskViewState = 'waiting' | 'delayed' | 'blocked' | 'running' | 'awaiting' | Outcome;

/** A task as it stands in the store. All times are cluster time in ms since 1970. */
export interface TaskView {
  /** Id of the task. */
  readonly id: string;
  /** Name of its type. */
  readonly type: string;
  /**
   * `waiting` for a node, `delayed` until `runAt`, `blocked` until those of `after` have ended, `running` on a node, `awaiting` the end of its
   * sub-tasks, or how it ended: `completed`, `failed` after
   * `maxAttempts`, `crashed` after `maxCrashes`, `invalid`, or `cancelled`.
   */
  readonly state: TaskViewState;
  /** Tasks of a higher priority usually run first. */
  readonly priority: Priority;
  /** Its group; absent for a task of its own. Without a number it is the task that runs the group's handler. */
  readonly group?: {
    /** Name of the group. */
    readonly name: string;
    /** Number of the member, from 1; absent for the task that runs the group's handler. */
    readonly number?: number;
  };
  /** Id of the task whose handler submitted it; absent if it is no sub-task. */
  readonly parent?: string;
  /** Any JSON value; absent if none was given. */
  readonly data?: unknown;
  /** The nodes that may run it; absent: all. */
  readonly to?: TaskTarget;
  /** The key among which tasks of its type are taken in turn; absent if it takes no part in that. */
  readonly fairKey?: string;
  /** Attempts that failed since it was submitted, or tried again by hand. */
  readonly attempts: number;
  /** Attempts that may fail. */
  readonly maxAttempts: number;
  /** Attempts in which the node crashed. */
  readonly crashes: number;
  /** Attempts in which the node may crash. */
  readonly maxCrashes: number;
  /** Fencing token of the latest attempt; 0 before the first. */
  readonly token: number;
  /** When it was submitted. */
  readonly submittedAt: number;
  /** When it may run next, while it is `delayed`; when it may run at the earliest, while it is `blocked`. */
  readonly runAt?: number;
  /** Its serial queue; absent if it is in none. */
  readonly queue?: string;
  /** Ids of the tasks and groups that have not ended, and must end first; only while it is `blocked`. */
  readonly after?: readonly string[];
  /**
   * The instance of the node, or `http:` and the name of the program, that works on it, and until when no other one can take it.
   * Only while it is `running`.
   */
  readonly lease?: {
    /** Instance of the node, or `http:` and the name of the program. */
    readonly instance: string;
    /** Cluster time in ms at which the lease ends. */
    readonly until: number;
  };
  /** The last report of progress of the latest attempt; absent if it made none. It stays after the end. */
  readonly progress?: TaskProgress;
  /** The error of the latest attempt, until an attempt succeeds. */
  readonly lastError?: TaskFault;
  /** The last attempts that failed, or whose node crashed, oldest first: at most 5. Absent for none. */
  readonly pastAttempts?: readonly PastAttempt[];
  /** Author, time and reason if it was cancelled. A task that is still `running` then ends with its handler, or with its lease. */
  readonly cancel?: Cancellation;
  /** The data and options with which it begins anew when it has ended: it was submitted again meanwhile, as `unique` wants it. */
  readonly next?: {
    /** Data of the next run; absent if none were given. */
    readonly data?: unknown;
    /** Priority of the next run. */
    readonly priority: Priority;
    /** When the next run may begin at the earliest; absent: at once. */
    readonly runAt?: number;
  };
  /** When it ended. */
  readonly endedAt?: number;
  /** How long it is remembered. A member of a group is also remembered until the group's handler has run. */
  readonly keptUntil?: number;
  /** The value that its handler returned; absent for none. */
  readonly result?: unknown;
  /** Present if its handler has submitted sub-tasks in this life. */
  readonly split?: true;
  /** Its sub-tasks, when all have ended; absent if it had none. A group of sub-tasks counts as one. */
  readonly subTasks?: GroupCounts;
}

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
