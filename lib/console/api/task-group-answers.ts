import { z } from 'zod';
import * as views from '../../tasks/rules/views.js';
import { list, time, whole } from '../../core/decision/answer-values.js';

/* The answers about groups, sub-tasks and schedules. */

export const foundGroupsSchema = z
  .object({ now: time, ...views.foundGroupsSchema.shape })
  .meta({ id: 'TaskGroupList' });
export type FoundGroupsAnswer = z.output<typeof foundGroupsSchema>;

export const groupPageSchema = z.object({ now: time, ...views.groupPageSchema.shape }).meta({ id: 'TaskGroupPage' });
export type TaskGroupAnswer = z.output<typeof groupPageSchema>;

export const subTasksSchema = z
  .object({
    now: time,
    subTasks: list<views.SubTaskEntry>(views.subTaskSchema),
    next: whole.optional().meta({ description: 'next page' }),
  })
  .meta({ id: 'SubTaskPage' });

export const schedulesSchema = z
  .object({ now: time, schedules: list<views.ScheduleView>(views.scheduleViewSchema) })
  .meta({ id: 'ScheduleList' });
export type SchedulesAnswer = z.output<typeof schedulesSchema>;

export const switchedSchema = z
  .object({
    type: z.string(),
    isOff: z.boolean().meta({ description: 'on the answering node' }),
    note: z.string().meta({ description: 'a sentence for people: how long it lasts' }),
  })
  .meta({ id: 'SwitchedTaskType' });
