import { z } from 'zod';
import { time, whole } from '../../core/decision/answer-values.js';

/*
 * Parts of a task or schedule that people and programs see as they stand in the record. Import only types from here in code that an
 * application loads. A field with a docstring besides its description says more there than the document of the API.
 */

export const token = whole.meta({
  description: 'fencing token: grows with each attempt; give it to the resource that you guard',
});

export const targetSchema = z.object({
  group: z
    .string()
    .optional()
    .meta({ description: "pattern that must match the node's whole group. Default: every group" }),
  acquirer: z
    .string()
    .optional()
    .meta({ description: "pattern that must match the node's whole name. Default: every name" }),
  instance: z
    .string()
    .optional()
    .meta({ description: 'instance of one process. After its end no other process has it' }),
  /**
   * Whether the task moves to another living node that handles its type when the process of `instance` is gone; `group` and
   * `acquirer` must match there, too. Only with `instance`. Default false: it waits for ever.
   */
  orAnother: z
    .boolean()
    .optional()
    .meta({ description: 'true: it moves to another node when the process of `instance` is gone' }),
});

/** The nodes that may run a task: all of what is given must match. Patterns are RE2, as in definitions. */
export interface TaskTarget extends Readonly<z.output<typeof targetSchema>> {}

export const faultSchema = z
  .object({
    name: z.string().meta({ description: "name of the error's class" }),
    message: z.string().meta({ description: 'its message, cut after 2,000 characters' }),
    /** Its stack, cut after 4,000 characters. */
    stack: z.string().optional().meta({ description: 'only for the role operate' }),
    /** When it was noted. */
    at: time,
  })
  .meta({ id: 'TaskError' });

/** An error of a handler, as far as it is kept. */
export interface TaskFault extends Readonly<z.output<typeof faultSchema>> {}

export const pastAttemptSchema = z
  .object({
    token,
    /** When its end was noted: cluster time in ms. */
    endedAt: time,
    instance: z.string().meta({ description: 'instance of the node, or "http:" and the name of the token' }),
    /** Name and message of the error, cut after 300 characters. Absent if the node crashed. */
    error: z.string().optional().meta({ description: 'absent if the node crashed' }),
  })
  .meta({ id: 'PastAttempt' });

/** An attempt that failed, or whose node crashed. */
export interface PastAttempt extends Readonly<z.output<typeof pastAttemptSchema>> {}

export const progressSchema = z
  .object({
    done: z.number().meta({ description: 'from 0' }),
    total: z.number().meta({ description: 'from 0, in the same unit as `done`' }),
    note: z.string().optional().meta({ description: 'at most 200 characters' }),
    /** When the handler said it: cluster time in ms. */
    at: time,
  })
  .meta({ id: 'TaskProgress' });

/** How far an attempt has come, as its handler said it. */
export interface TaskProgress extends Readonly<z.output<typeof progressSchema>> {}

export const cancellationShape = {
  /** When it was cancelled: cluster time in ms. */
  at: time,
  by: z.string().meta({ description: 'name of the person or program' }),
  reason: z.string().optional().meta({ description: 'the reason that was given' }),
};

export const groupStopSchema = z
  .object({
    ...cancellationShape,
    isOfGroup: z.literal(true).optional().meta({
      description:
        'present if it is of the whole group: by `cancelGroup()`, or because of a member with `failGroupFast`',
    }),
  })
  .meta({ id: 'GroupStop' });

/** Author, time and reason of a cancel. */
export interface Cancellation extends Readonly<z.output<typeof groupStopSchema>> {}

export const groupCountsSchema = z
  .object({
    total: whole.meta({ description: 'all of them' }),
    failed: whole.meta({ description: 'those that did not complete' }),
  })
  .meta({ id: 'SubTaskCounts' });

/** Numbers of tasks that have ended together. */
export interface GroupCounts extends Readonly<z.output<typeof groupCountsSchema>> {}

export const skippedTickSchema = z
  .object({
    /** Its planned time: cluster time in ms since 1970. */
    at: time,
    /** The planned time of the run that had not ended. */
    former: time,
  })
  .meta({ id: 'SkippedTick' });

/** A tick that was skipped because the former run had not ended. */
export interface SkippedTick extends Readonly<z.output<typeof skippedTickSchema>> {}
