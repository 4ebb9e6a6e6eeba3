import { z } from 'zod';
import { list, named, time, whole } from '../../../core/decision/answer-values.js';
import { type RunEntry, type RunningEntry, runSchema, runningSchema } from '../history-answers.js';

/*
 * The past of jobs. Import only types from here in code that an application loads. A field with a
 * docstring besides its description says more there than the document of the API.
 */

const about = 'ms; at most 10 % off';
const statistics = {
  ok: whole.meta({ description: 'runs that ended well' }),
  failed: whole.meta({ description: 'runs that threw an error' }),
  lost: whole.meta({ description: 'runs that ended without the permit that they began with' }),
  crashed: whole.meta({ description: 'runs whose node crashed' }),
  /** Median duration of the runs that ended well, in ms; at most 10 % off. Absent if there was none. */
  p50: whole.optional().meta({ description: `median duration of the runs that ended well: ${about}` }),
  /** Duration in ms that 95 % of the runs that ended well did not exceed; at most 10 % off. Absent if there was none. */
  p95: whole.optional().meta({ description: `95 % of the runs that ended well took no longer: ${about}` }),
};
const statisticsSchema = z.object(statistics).meta({ id: 'RunStatistics' });

/** Numbers of runs by their outcome, and how long the good ones took. */
export interface RunStatistics extends Readonly<z.output<typeof statisticsSchema>> {}

const daySchema = z
  .object({ at: time.meta({ description: 'begin of the day in UTC: ms since the epoch' }), ...statistics })
  .meta({ id: 'RunDay' });

/** The runs of a job that began on one day. */
export interface RunDay extends Readonly<z.output<typeof daySchema>> {}

const ratesSchema = z
  .object({
    ...statistics,
    /** The part of the runs that ended well, from 0 to 1. Absent without runs. */
    rate: z.number().optional().meta({ description: 'part that ended well, from 0 to 1' }),
  })
  .meta({ id: 'RunRates' });

/** Numbers of runs, with the part of them that ended well. */
export interface RunRates extends Readonly<z.output<typeof ratesSchema>> {}

const failedRunSchema = runSchema
  .extend({
    stack: z.string().optional().meta({
      description:
        'stack of the error, cut after 2,048 characters; only of the newest five failures that threw an error',
    }),
  })
  .meta({ id: 'FailedRun' });

/** A run that failed, crashed or lost its permit. */
export interface FailedRun extends Readonly<z.output<typeof failedRunSchema>> {}

const versionSchema = z
  .object({
    version: z.string().meta({ description: 'from the option `version` of its nodes' }),
    /** When its first run was noted, a few seconds after it: cluster time, ms since the epoch. */
    since: time.meta({ description: 'when its first run was noted' }),
  })
  .meta({ id: 'JobVersion' });

/** A version of the application under which a job ran. */
export interface JobVersion extends Readonly<z.output<typeof versionSchema>> {}

const job = {
  semaphore: z.string().meta({ description: 'name of the semaphore' }),
  job: z.string().meta({ description: 'name of the job' }),
  /** Start of the last run that ended well: cluster time, ms since the epoch. Absent if none is known. */
  lastOk: time.optional(),
  /**
   * The last known time at which its schedule was due: cluster time, ms since the epoch. Absent if it has no cron schedule.
   */
  due: time.optional(),
  schedule: z
    .string()
    .optional()
    .meta({ description: 'schedule under which it ran last: "0 3 * * *"; absent if it has none' }),
};

export const jobSummarySchema = z
  .object({
    ...job,
    state: z.enum(['running', 'ok', 'failed', 'lost', 'crashed']).meta({
      description: '`running` while a run of 2 s or more goes on; otherwise the outcome of the last run',
    }),
    /** Start of the oldest run that goes on: cluster time, ms since the epoch. Absent if none does. */
    runningSince: time.optional(),
    lastRun: named<RunEntry>(runSchema)
      .optional()
      .meta({ description: 'the last run that is over; absent if none is known' }),
    lastFailure: named<RunEntry>(runSchema)
      .optional()
      .meta({ description: 'the last run that failed, crashed or lost its permit; absent if none is known' }),
    day: named<RunRates>(ratesSchema).meta({ description: 'the last 24 hours, by whole hours' }),
    week: named<RunRates>(ratesSchema).meta({ description: 'today and the 6 days before, UTC' }),
  })
  .meta({ id: 'JobSummary' });

/** One job in a list: how it is now, and how it was in the last days. */
export interface JobSummary extends Readonly<z.output<typeof jobSummarySchema>> {}

export const jobRunsSchema = z
  .object({
    ...job,
    runs: list<RunEntry>(runSchema).meta({ description: 'the last 20 runs that are over, newest first' }),
    running: list<RunningEntry>(runningSchema).meta({ description: 'runs of 2 s or more that go on, newest first' }),
    failures: list<FailedRun>(failedRunSchema).meta({
      description:
        'the last 10 runs that failed, crashed or lost their permit, newest first. The newest 5 have the stack of their error',
    }),
    day: named<RunStatistics>(statisticsSchema).meta({ description: 'the last 24 hours, by whole hours' }),
    week: named<RunStatistics>(statisticsSchema).meta({ description: 'today and the 6 days before, UTC' }),
    days: list<RunDay>(daySchema).meta({ description: 'the days with runs, oldest first, for 35 days' }),
    /** The last 10 versions of the application under which it ran, newest first. Absent if its nodes have no `version`. */
    versions: list<JobVersion>(versionSchema).optional().meta({
      description: 'the last 10 versions of the application under which it ran, newest first',
    }),
  })
  .meta({ id: 'JobRuns' });

/** The past of one job on all nodes. Runs of other jobs don't push it out. */
export interface JobRuns extends Readonly<z.output<typeof jobRunsSchema>> {}
