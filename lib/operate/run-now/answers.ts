import { z } from 'zod';
import { nodeIdentitySchema } from '../../core/context/node-identity.js';
import { list, named, time, whole } from '../../core/decision/answer-values.js';
import type { RunOutcome } from '../../core/permits/by-hand/run-request.js';

/*
 * Runs that a person or program asks for. Import only types from here in code that an application loads. A field with a
 * docstring besides its description says more there than the document of the API.
 */

/** All values of {@link RunNowState}. */
export const RUN_NOW_STATES = ['asked', 'running', 'ended', 'not-taken', 'unclear'] as const;

/**
 * State of a run that was asked for:
 *
 * - `asked`: no node has taken it yet; `sentence` says why, for example who holds the permit
 * - `running`: a node runs it
 * - `ended`: see `outcome`: `ok`, `failed` (with `message`), or `lost` (its permit ended before the run did)
 * - `not-taken`: no node took it within a minute, and none can any more
 * - `unclear`: its node has no permit any more and has noted no end: it crashed, or goes on without its permit. No other
 *   node runs it
 *
 * @useDeclaredType
 */
export type RunNowState = (typeof RUN_NOW_STATES)[number];

export const runNowStatusSchema = z
  .object({
    id: z.string().meta({ description: 'id of the request' }),
    semaphore: z.string().meta({ description: 'name of the semaphore' }),
    job: z.string().meta({ description: 'name of the job' }),
    by: z.string().meta({ description: 'the person or program that asked' }),
    reason: z.string().optional().meta({ description: 'the reason that was given' }),
    /** When it was asked for: cluster time in ms. */
    at: time,
    /** See {@link RunNowState}. */
    state: named<RunNowState>(z.enum(RUN_NOW_STATES)).meta({
      description:
        'asked: no node has taken it yet. not-taken: none took it within a minute, and none can any more. ' +
        'unclear: the permit of its node is over without an end of the run',
    }),
    /** The state in a sentence, for people. Of a run that no node has taken, with the reason. */
    sentence: z.string().meta({ description: 'the state, for people' }),
    node: nodeIdentitySchema.optional().meta({ description: 'the node that took it' }),
    token: whole.optional().meta({ description: 'fencing token of its permit' }),
    /** When the node took it: cluster time in ms. */
    startedAt: time.optional(),
    outcome: named<RunOutcome>(z.enum(['ok', 'failed', 'lost']))
      .optional()
      .meta({ description: 'how it ended. `lost`: its permit ended before the run did' }),
    /** Duration of the run in ms. */
    took: whole.optional().meta({ description: 'ms' }),
    message: z
      .string()
      .optional()
      .meta({ description: 'message of the error with which it failed, cut after 500 characters' }),
  })
  .meta({ id: 'RunRequest', description: 'a run that a person or program asked for' });

/** A run that a person or program asked for. */
export interface RunNowStatus extends Readonly<z.output<typeof runNowStatusSchema>> {}

const runnableSchema = z
  .object({
    job: z.string().meta({ description: 'name of the job: "JobsService.export"' }),
    /** The living nodes that may run it now: the first that takes the request does. Sorted by group and acquirer. */
    nodes: list(nodeIdentitySchema).meta({ description: 'the living nodes that may run it; the first one takes it' }),
    /** Why it can't be run now, in a sentence; absent if it can. */
    obstacle: z.string().optional().meta({ description: 'why it can not be run now; absent if it can' }),
  })
  .meta({ id: 'RunnableJob' });

/** A job that a person may want to run now, and the nodes that could. */
export interface RunnableNow extends Readonly<z.output<typeof runnableSchema>> {}

export const runNowPlanSchema = z
  .object({
    now: time,
    jobs: list<RunnableNow>(runnableSchema).meta({ description: 'sorted by name' }),
    /** The nodes that hold its permits now, in the order of the slots. */
    holders: list(z.string()).meta({ description: 'names of the nodes that hold its permits now' }),
    requests: list<RunNowStatus>(runNowStatusSchema).meta({
      description: 'the latest requests, newest first, at most 10',
    }),
  })
  .meta({ id: 'RunPlan' });

/** The jobs of a semaphore that could be run now, and the latest requests. */
export interface RunNowPlan extends Readonly<z.output<typeof runNowPlanSchema>> {}
