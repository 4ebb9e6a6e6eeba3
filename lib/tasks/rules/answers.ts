import { z } from 'zod';
import { denialReasonSchema, whole } from '../../core/decision/answer-values.js';

/*
 * Answers to submissions, claims and changes of tasks. Import only types from here in code that an application loads.
 */

const id = z.string().meta({ description: 'id of the task' });
const because = z.string().meta({ description: 'why, in a sentence' });

export const submittedSchema = z
  .object({
    id,
    outcome: z.enum(['created', 'known', 'replaced']).meta({
      description:
        '`created`: it will run. `known`: there is such a task already, and nothing was changed. `replaced`: there was one ' +
        'that had not begun, and this submission took its place, as `unique` wants it',
    }),
    because,
  })
  .meta({ id: 'SubmittedTask' });

/** Answer to a submission. */
export interface Submitted extends Readonly<z.output<typeof submittedSchema>> {}

export const cancelledSchema = z
  .object({
    id,
    outcome: z.enum(['cancelled', 'requested', 'ended', 'unknown']).meta({
      description:
        '`cancelled`: it has ended, and never runs again; a program that had claimed it is refused. `requested`: a node works ' +
        'on it; it ends as cancelled when its handler ends, or its lease, and a result is refused. `ended`: it had ended ' +
        'before, and nothing was changed. `unknown`: there is no task of this id, or it is no longer remembered',
    }),
    because,
  })
  .meta({ id: 'CancelledTask' });

/** Answer to `cancel()`. */
export interface Cancelled extends Readonly<z.output<typeof cancelledSchema>> {}

export const retriedSchema = z
  .object({
    id,
    outcome: z.enum(['retried', 'refused', 'unknown']).meta({
      description:
        '`retried`: it waits for a node, with fresh counts of attempts and crashes. `refused`: nothing was changed. ' +
        '`unknown`: there is no task of this id, or it is no longer remembered',
    }),
    because,
  })
  .meta({ id: 'RetriedTask' });

/** Answer to `retry()`. */
export interface Retried extends Readonly<z.output<typeof retriedSchema>> {}

export const releasedSchema = z
  .object({
    id,
    outcome: z.enum(['released', 'refused', 'unknown']).meta({
      description:
        '`released`: the program that had claimed it has lost it, and another one may claim it at once. `refused`: nothing ' +
        'was changed. `unknown`: there is no task of this id, or it is no longer remembered',
    }),
    because,
  })
  .meta({ id: 'ReleasedTask' });

/** Answer to `release()`. */
export interface Released extends Readonly<z.output<typeof releasedSchema>> {}

export const groupCancelledSchema = z
  .object({
    id: z.string().meta({ description: 'id of the group: `import[june]`' }),
    outcome: z.enum(['cancelled', 'ended', 'unknown']).meta({
      description:
        '`cancelled`: all members that have not ended, end as cancelled. It goes on in the background if there are many. ' +
        '`ended`: all members had ended, and nothing was changed. `unknown`: there is no such group, or it is no longer ' +
        'remembered',
    }),
    because,
  })
  .meta({ id: 'CancelledTaskGroup' });

/** Answer to `cancelGroup()`. */
export interface GroupCancelled extends Readonly<z.output<typeof groupCancelledSchema>> {}

export const typeDenialSchema = z
  .object({
    type: z.string(),
    reason: denialReasonSchema,
    freeIn: whole.optional().meta({
      description: 'ms until a permit is free, if none is refreshed or released before',
    }),
  })
  .meta({ id: 'TypeDenial' });

/** Why a worker gets no task of a type. `freeIn` is absent if waiting alone frees no permit. */
export interface TypeDenial extends Readonly<z.output<typeof typeDenialSchema>> {}
