import { z } from 'zod';
import { DENIAL_REASONS, type DenialReason } from '../../core/decision/denial.js';
import { list, named, time, whole } from '../../core/decision/answer-values.js';
import type { MissedTicks } from './schedule-options.js';
import { PRIORITIES, type Outcome, type Priority } from './task.js';
import * as parts from './task-parts.js';

/*
 * Tasks, groups, schedules and types of tasks as people and programs see them. Import only types from here in code that an
 * application loads. A field with a docstring besides its description says more there than the document of the API.
 */

export const data = z.unknown().meta({ description: 'any JSON value' });

export const groupOfTask = z
  .object({
    name: z.string().meta({ description: 'name of the group' }),
    /** Number of the member, from 1; absent for the task that runs the group's handler. */
    number: whole.optional().meta({ description: "absent: this task runs the group's handler" }),
  })
  .meta({ id: 'TaskGroup' });

/** State of a task for people: where it is, or how it ended. */
export type TaskViewState = 'waiting' | 'delayed' | 'blocked' | 'running' | 'awaiting' | Outcome;

export const stateSchema = named<TaskViewState>(
  z.enum([
    'waiting',
    'delayed',
    'blocked',
    'running',
    'awaiting',
    'completed',
    'failed',
    'crashed',
    'invalid',
    'cancelled',
  ]),
);

export const taskViewSchema = z
  .object({
    id: z.string().meta({ description: 'id of the task' }),
    type: z.string().meta({ description: 'name of its type' }),
    state: stateSchema.meta({
      description:
        '`waiting` for a node, `delayed` until `runAt`, `blocked` until those of `after` have ended, `running` on a node, ' +
        '`awaiting` the end of its sub-tasks, or how it ended: `completed`, `failed` after `maxAttempts`, `crashed` after ' +
        '`maxCrashes`, `invalid`, or `cancelled`',
    }),
    priority: named<Priority>(z.enum(PRIORITIES)).meta({ description: 'tasks of a higher priority usually run first' }),
    group: groupOfTask.optional().meta({
      description:
        "its group; absent for a task of its own. Without a number it is the task that runs the group's handler",
    }),
    parent: z
      .string()
      .optional()
      .meta({ description: 'id of the task whose handler submitted it; absent if it is no sub-task' }),
    /** Any JSON value; absent if none was given. */
    data: data.optional().meta({ description: 'only for the role operate' }),
    to: named<parts.TaskTarget>(parts.targetSchema)
      .optional()
      .meta({ id: 'TaskTarget', description: 'the nodes that may run it; absent: all' }),
    fairKey: z.string().optional().meta({
      description: 'key among which tasks of its type are taken in turn; absent if it takes no part in that',
    }),
    /** Attempts that failed since it was submitted, or tried again by hand. */
    attempts: whole.meta({ description: 'attempts that failed' }),
    maxAttempts: whole.meta({ description: 'attempts that may fail' }),
    crashes: whole.meta({ description: 'attempts in which the node or the worker crashed' }),
    maxCrashes: whole.meta({ description: 'attempts in which the node may crash' }),
    /** Fencing token of the latest attempt; 0 before the first. */
    token: parts.token,
    /** When it was submitted. */
    submittedAt: time,
    /** When it may run next, while it is `delayed`; when it may run at the earliest, while it is `blocked`. */
    runAt: time.optional(),
    queue: z.string().optional().meta({ description: 'its serial queue; absent if it is in none' }),
    /** Ids of the tasks and groups that have not ended, and must end first; only while it is `blocked`. */
    after: list(z.string()).optional().meta({ description: 'ids of those that must end before it may run' }),
    lease: z
      .object({
        instance: z.string().meta({ description: 'instance of the node, or "http:" and the name of the token' }),
        /** Cluster time in ms at which the lease ends. */
        until: time,
      })
      .optional()
      .meta({
        id: 'TaskLease',
        description: 'who works on it, and until when no other one can take it. Only while it is `running`',
      }),
    progress: named<parts.TaskProgress>(parts.progressSchema).optional().meta({
      description: 'the last report of progress of the latest attempt; absent if it made none. It stays after the end',
    }),
    lastError: named<parts.TaskFault>(parts.faultSchema)
      .optional()
      .meta({ description: 'the error of the latest attempt, until an attempt succeeds' }),
    pastAttempts: list<parts.PastAttempt>(parts.pastAttemptSchema)
      .optional()
      .meta({ description: 'the last 5 that failed or crashed, oldest first' }),
    cancel: named<parts.Cancellation>(z.object(parts.cancellationShape)).optional().meta({
      id: 'TaskCancellation',
      description:
        'author, time and reason if it was cancelled. A task that is still `running` then ends with its handler, or with its lease',
    }),
    next: z
      .object({
        data: data.optional(),
        priority: named<Priority>(z.enum(PRIORITIES)).meta({ description: 'priority of the next run' }),
        /** When the next run may begin at the earliest; absent: at once. */
        runAt: time.optional(),
      })
      .optional()
      .meta({ id: 'NextLife', description: 'it was submitted again meanwhile, and begins anew when it has ended' }),
    /** When it ended. */
    endedAt: time.optional(),
    /** How long it is remembered. A member of a group is also remembered until the group's handler has run. */
    keptUntil: time.optional().meta({ description: 'how long it is remembered' }),
    /** The value that its handler returned; absent for none. */
    result: data.optional().meta({ description: 'only for the role operate' }),
    split: z
      .literal(true)
      .optional()
      .meta({ description: 'present if its handler has submitted sub-tasks in this life' }),
    subTasks: named<parts.GroupCounts>(parts.groupCountsSchema).optional().meta({
      description: 'its sub-tasks, when all have ended; absent if it had none. A group of sub-tasks counts as one',
    }),
  })
  .meta({ id: 'Task' });

/** A task as it stands in the store. All times are cluster time in ms since 1970. */
export interface TaskView extends Readonly<z.output<typeof taskViewSchema>> {}

export const taskReasonSchema = z
  .object({
    reason: z.enum([
      'run-at',
      'backoff',
      'retry-later',
      'waiting',
      'running',
      'cancelling',
      'sub-tasks',
      'after',
      'ended',
    ]),
    sentence: z.string(),
    until: time.optional().meta({ description: 'when it may run next, or when the lease of its attempt ends' }),
    groupWaitsFor: z.enum(['total', 'members', 'handler']).optional(),
  })
  .meta({ id: 'TaskExplanation' });

/** Why a task does not run, or where it runs, in one shape for all reasons. */
export interface TaskReason extends Readonly<z.output<typeof taskReasonSchema>> {}

const taskGroupSchema = z
  .object({
    id: z.string().meta({ description: 'id in the whole cluster: `import[june]`' }),
    type: z.string().meta({ description: 'type of its members' }),
    /** Name in the whole cluster. That of a group of sub-tasks begins with `^` and a hash of its parent's id. */
    group: z.string().meta({ description: 'name in the whole cluster' }),
    name: z.string().meta({ description: 'name as its submitter gave it' }),
    /** `open`: members may still end. `joining`: all have ended, and the group's handler is to run. `closed`: it has run. */
    state: z
      .enum(['open', 'joining', 'closed'])
      .meta({ description: "joining: all members have ended, and the group's handler is to run; closed: it has run" }),
    begunAt: time.meta({
      description: 'when its first member was submitted: ms since the epoch, cluster time',
    }),
    total: whole.optional().meta({ description: 'number of members; absent until a submission said it' }),
    ended: whole.meta({ description: 'number of members that have ended' }),
    failed: whole.meta({ description: 'members that ended and did not complete' }),
    stopped: named<parts.Cancellation>(parts.groupStopSchema)
      .optional()
      .meta({ description: 'author and reason, if the rest of its members must end' }),
  })
  .meta({ id: 'TaskGroupOverview' });

/** A group in the store, for operators. */
export interface TaskGroupOverview extends Readonly<z.output<typeof taskGroupSchema>> {}

export const foundGroupsSchema = z.object({
  groups: list<TaskGroupOverview>(taskGroupSchema).meta({
    description: 'those that have not ended first, then the newest',
  }),
  isCut: z.boolean().meta({ description: 'whether there may be more: the search reads 100 tasks of each state' }),
  leftOut: whole.meta({ description: 'groups among those that were found that this node can not read' }),
});

/** Groups that a search has found. */
export interface FoundGroups extends Readonly<z.output<typeof foundGroupsSchema>> {}

export const groupPageSchema = z.object({
  group: taskGroupSchema,
  members: list<TaskView>(taskViewSchema),
  missing: list(whole).meta({ description: 'numbers of this page that were not submitted yet, or are forgotten' }),
  leftOut: whole.meta({ description: 'members of this page that this node can not read' }),
  next: whole.optional().meta({ description: 'first number of the next page' }),
  handler: taskViewSchema.optional().meta({ description: "the task that runs the group's handler" }),
  isHandlerUnreadable: z
    .literal(true)
    .optional()
    .meta({ description: 'present if that task is in the store, and this node can not read it' }),
});

/** Some members of a group, without their data and results. */
export interface GroupPage extends Readonly<z.output<typeof groupPageSchema>> {}

export const subTaskSchema = z
  .object({
    id: z.string().meta({ description: 'id of the task or of the group' }),
    task: named<TaskView>(taskViewSchema).optional().meta({
      description: 'absent if it is a group, is not in the store (not submitted yet, or forgotten), or can not be read',
    }),
    group: named<TaskGroupOverview>(taskGroupSchema)
      .optional()
      .meta({ description: 'absent if it is a task, or if there is no such group in the store' }),
    isUnreadable: z.literal(true).optional().meta({
      description: 'present if it is in the store, and this node can not read it: of a newer version, or corrupt',
    }),
  })
  .meta({ id: 'SubTask' });

/** A sub-task, or a group of sub-tasks. */
export interface SubTaskEntry extends Readonly<z.output<typeof subTaskSchema>> {}

export const scheduleViewSchema = z
  .object({
    name: z.string().meta({ description: 'name of the schedule' }),
    type: z.string().meta({ description: 'type of its tasks. The semaphore `task:<type>` limits and pauses it' }),
    /**
     * The cron expression; of a schedule of other nodes, as the node has it that submitted last. Absent, as zone and mode, if
     * that record can't be read.
     */
    expression: z
      .string()
      .optional()
      .meta({ description: 'absent, as timeZone and mode, if only the record has it, and can not be read' }),
    timeZone: z.string().optional().meta({ description: 'name of the time zone' }),
    mode: z.string().optional().meta({ description: '`once-per-tick`, `at-most-one-running` or `queue`' }),
    /** Effect of missed ticks; absent for a schedule of other nodes. */
    missed: named<MissedTicks>(z.enum(['skip', 'once', 'all']))
      .optional()
      .meta({ description: 'absent for a schedule of other nodes' }),
    /** Whether this node has the schedule. If no node has it any more, its record is all that is left. */
    isHere: z.boolean().meta({ description: 'whether the answering node has it' }),
    /**
     * Present if this node can't read the record: it is of a newer version, or corrupt. Then it knows nothing of the past, and
     * submits no ticks.
     */
    isUnreadable: z.literal(true).optional().meta({
      description: 'present if this node can not read its record: of a newer version, or corrupt',
    }),
    silentUntil: time.optional().meta({
      description: 'no tick runs up to this time: the clock of the store was ahead when it was noted, and was set back',
    }),
    /** The next planned time; absent if the expression can't be read. */
    next: time.optional(),
    last: time.optional().meta({ description: 'the last planned time that was decided about' }),
    run: time.optional().meta({ description: 'the last planned time that was submitted' }),
    waiting: whole.meta({ description: 'ticks that wait for the end of the former run' }),
    skipped: list<parts.SkippedTick>(parts.skippedTickSchema).meta({
      description:
        'the last ticks that were skipped, at most 10, each with the planned time of the run because of which it was',
    }),
  })
  .meta({ id: 'Schedule' });

/** A schedule of the cluster. Times are cluster time in ms since 1970. */
export interface ScheduleView extends Readonly<z.output<typeof scheduleViewSchema>> {}

export const waitingTypeSchema = z
  .object({
    type: z.string().meta({ description: 'type of the tasks' }),
    offeredAt: time.meta({ description: 'when the first of its tasks was offered last' }),
    /**
     * About how many of its tasks and groups wait: the length of the queues that the nodes take them from. A crash may leave
     * a task out for a while.
     */
    waiting: whole.meta({ description: 'about how many of its tasks and groups wait' }),
  })
  .meta({ id: 'WaitingTaskType' });

/** A type of which tasks wait. */
export interface WaitingType extends Readonly<z.output<typeof waitingTypeSchema>> {}

/** Why a node takes no task of a type: `paused-here` by `pauseType()`, or why it gets no permit of `task:<type>`. */
export type TypeObstacle = 'paused-here' | DenialReason;

const workerStateSchema = z.object({
  concurrency: whole.meta({ description: 'attempts at the same time on this node' }),
  running: whole.meta({ description: 'attempts that run on this node now' }),
  obstacle: named<TypeObstacle>(z.enum(['paused-here', ...DENIAL_REASONS]))
    .optional()
    .meta({ description: 'why this node takes no task now; absent if it does' }),
});

/** State of a node's work on one type, as the node knows it now. */
export interface WorkerState extends Readonly<z.output<typeof workerStateSchema>> {}

export const handledTypeSchema = z
  .object({
    type: z.string().meta({ description: 'the type' }),
    handles: z
      .enum(['tasks', 'groups'])
      .meta({ description: '`tasks`: the tasks of the type. `groups`: the end of its groups' }),
    ...workerStateSchema.shape,
  })
  .meta({ id: 'HandledTaskType' });

/** A type that a node handles. */
export interface HandledType extends Readonly<z.output<typeof handledTypeSchema>> {}
