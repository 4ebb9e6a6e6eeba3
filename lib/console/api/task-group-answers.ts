import { z } from 'zod';
import type {
  FoundGroups,
  GroupCancelled,
  TaskGroupOverview,
  GroupPage,
  ScheduleView,
  SubTaskEntry,
} from '../../tasks/index.js';
import { list, time, whole } from './entities.js';
import { taskSchema } from './task-answers.js';

/* The answers about groups, sub-tasks and schedules. If a schema differs from the library's own type, this file doesn't compile. */

const stopSchema = z
  .object({ at: time, by: z.string(), reason: z.string().optional(), isOfGroup: z.literal(true).optional() })
  .meta({ id: 'GroupStop' });

const groupSchema: z.ZodType<TaskGroupOverview> = z
  .object({
    id: z.string(),
    type: z.string(),
    group: z.string().meta({ description: 'name in the whole cluster' }),
    name: z.string().meta({ description: 'name as its submitter gave it' }),
    state: z
      .enum(['open', 'joining', 'closed'])
      .meta({ description: "joining: all members have ended, and the group's handler is to run; closed: it has run" }),
    begunAt: time.meta({
      description: 'when its first member was submitted: ms since the epoch, cluster time',
    }),
    total: whole.optional().meta({ description: 'number of members; absent until a submission said it' }),
    ended: whole,
    failed: whole.meta({ description: 'members that ended and did not complete' }),
    stopped: stopSchema.optional().meta({ description: 'author and reason, if the rest of its members must end' }),
  })
  .meta({ id: 'TaskGroupOverview' });

export const foundGroupsSchema = z
  .object({
    now: time,
    groups: (list(groupSchema) as z.ZodType<FoundGroups['groups']>).meta({
      description: 'those that have not ended first, then the newest',
    }),
    isCut: z.boolean().meta({ description: 'whether there may be more: the search reads 100 tasks of each state' }),
    leftOut: whole.meta({ description: 'groups among those that were found that this node can not read' }),
  })
  .meta({ id: 'TaskGroupList' });
export type FoundGroupsAnswer = z.output<typeof foundGroupsSchema>;

export const groupPageSchema = z
  .object({
    now: time,
    group: groupSchema,
    members: list(taskSchema) as z.ZodType<GroupPage['members']>,
    missing: list(whole).meta({ description: 'numbers of this page that were not submitted yet, or are forgotten' }),
    leftOut: whole.meta({ description: 'members of this page that this node can not read' }),
    next: whole.optional().meta({ description: 'first number of the next page' }),
    handler: taskSchema.optional().meta({ description: "the task that runs the group's handler" }),
    isHandlerUnreadable: z
      .literal(true)
      .optional()
      .meta({ description: 'present if that task is in the store, and this node can not read it' }),
  })
  .meta({ id: 'TaskGroupPage' });
export type TaskGroupAnswer = z.output<typeof groupPageSchema>;

const subTaskSchema: z.ZodType<SubTaskEntry> = z
  .object({
    id: z.string(),
    task: taskSchema.optional(),
    group: groupSchema.optional(),
    isUnreadable: z.literal(true).optional().meta({
      description: 'present if it is in the store, and this node can not read it: of a newer version, or corrupt',
    }),
  })
  .meta({ id: 'SubTask' });

export const subTasksSchema = z
  .object({ now: time, subTasks: list(subTaskSchema), next: whole.optional().meta({ description: 'next page' }) })
  .meta({ id: 'SubTaskPage' });
export type SubTasksAnswer = z.output<typeof subTasksSchema>;

export const groupCancelledSchema: z.ZodType<GroupCancelled> = z
  .object({ id: z.string(), outcome: z.enum(['cancelled', 'ended', 'unknown']), because: z.string() })
  .meta({ id: 'CancelledTaskGroup' });

const scheduleSchema: z.ZodType<ScheduleView> = z
  .object({
    name: z.string(),
    type: z.string(),
    expression: z
      .string()
      .optional()
      .meta({ description: 'absent, as timeZone and mode, if only the record has it, and can not be read' }),
    timeZone: z.string().optional(),
    mode: z.string().optional(),
    missed: z.enum(['skip', 'once', 'all']).optional().meta({ description: 'absent for a schedule of other nodes' }),
    isHere: z.boolean().meta({ description: 'whether the answering node has it' }),
    isUnreadable: z.literal(true).optional().meta({
      description: 'present if this node can not read its record: of a newer version, or corrupt',
    }),
    silentUntil: time.optional().meta({
      description: 'no tick runs up to this time: the clock of the store was ahead when it was noted, and was set back',
    }),
    next: time.optional(),
    last: time.optional().meta({ description: 'the last planned time that was decided about' }),
    run: time.optional().meta({ description: 'the last planned time that was submitted' }),
    waiting: whole.meta({ description: 'ticks that wait for the end of the former run' }),
    skipped: list(z.object({ at: time, former: time }).meta({ id: 'SkippedTick' })),
  })
  .meta({ id: 'Schedule' });

export const schedulesSchema = z.object({ now: time, schedules: list(scheduleSchema) }).meta({ id: 'ScheduleList' });
export type SchedulesAnswer = z.output<typeof schedulesSchema>;

export const switchedSchema = z
  .object({
    type: z.string(),
    isOff: z.boolean().meta({ description: 'on the answering node' }),
    note: z.string().meta({ description: 'a sentence for people: how long it lasts' }),
  })
  .meta({ id: 'SwitchedTaskType' });
export type SwitchedAnswer = z.output<typeof switchedSchema>;
