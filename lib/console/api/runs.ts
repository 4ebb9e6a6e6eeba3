import { z } from 'zod';
import type {
  FailedRun,
  JobRuns,
  JobSummary,
  JobVersion,
  RunDay,
  RunRates,
  RunStatistics,
} from '../../gatekeeper/index.js';
import { systemClock } from '../../core/async/node-clock.js';
import { type Pieces, inSlices } from '../../core/async/slices.js';
import { summaryOf } from '../../operate/activity/jobs/job-summary.js';
import { historySchema } from './answers.js';
import type { Sees } from './caller.js';
import { list, runSchema, runShape, runningSchema, time, whole } from './entities.js';
import { operation } from './operation.js';
import { historyQuery, jobsQuery, nameParams } from './requests.js';
import { csvOf } from './runs-csv.js';

const about = 'ms; at most 10 % off';
const statistics = {
  ok: whole,
  failed: whole.meta({ description: 'runs that threw an error' }),
  lost: whole.meta({ description: 'runs that ended without the permit that they began with' }),
  crashed: whole,
  p50: whole.optional().meta({ description: `median duration of the runs that ended well: ${about}` }),
  p95: whole.optional().meta({ description: `95 % of the runs that ended well took no longer: ${about}` }),
};
const statisticsSchema: z.ZodType<RunStatistics> = z.object(statistics).meta({ id: 'RunStatistics' });
const dayOfRunsSchema: z.ZodType<RunDay> = z
  .object({ at: time.meta({ description: 'begin of the day in UTC: ms since the epoch' }), ...statistics })
  .meta({ id: 'RunDay' });
const ratesSchema: z.ZodType<RunRates> = z
  .object({ ...statistics, rate: z.number().optional().meta({ description: 'part that ended well, from 0 to 1' }) })
  .meta({ id: 'RunRates' });
const failedRunSchema: z.ZodType<FailedRun> = z
  .object({ ...runShape, stack: z.string().optional() })
  .meta({ id: 'FailedRun' });

const versionSchema: z.ZodType<JobVersion> = z
  .object({ version: z.string(), since: time.meta({ description: 'when its first run was noted' }) })
  .meta({ id: 'JobVersion' });

const named = { semaphore: z.string(), job: z.string() };
const known = { lastOk: time.optional(), due: time.optional(), schedule: z.string().optional() };

const summarySchema: z.ZodType<JobSummary> = z
  .object({
    ...named,
    ...known,
    state: z.enum(['running', 'ok', 'failed', 'lost', 'crashed']),
    runningSince: time.optional(),
    lastRun: runSchema.optional(),
    lastFailure: runSchema.optional(),
    day: ratesSchema.meta({ description: 'the last 24 hours, by whole hours' }),
    week: ratesSchema.meta({ description: 'today and the 6 days before, UTC' }),
  })
  .meta({ id: 'JobSummary' });

const jobRunsSchema: z.ZodType<JobRuns> = z
  .object({
    ...named,
    ...known,
    runs: list(runSchema),
    running: list(runningSchema),
    failures: list(failedRunSchema),
    day: statisticsSchema,
    week: statisticsSchema,
    days: list(dayOfRunsSchema),
    versions: list(versionSchema).optional().meta({
      description: 'the last 10 versions of the application under which it ran, newest first',
    }),
  })
  .meta({ id: 'JobRuns' });

const jobsSchema = z.object({ jobs: list(summarySchema) }).meta({ id: 'JobList' });
const jobSchema = z.object({ jobs: list(jobRunsSchema) }).meta({ id: 'JobDetails' });

/** The runs of all nodes, and the past of each job. */
export const RUN_OPERATIONS = {
  history: operation({
    operationId: 'listRuns',
    method: 'GET',
    path: 'api/history',
    summary: 'Runs and skipped runs, newest first',
    role: 'view',
    isHeavy: true,
    query: historyQuery,
    answer: historySchema,
    // The other form of the answer is chosen by `format`, too.
    run: async ({ runs }, { query: { format: _form, ...wanted } }, { sees }) => ({
      entries: await runs.find(wanted, sees),
    }),
    text: { mediaType: 'text/csv', fileName: 'runs.csv', write: ({ entries }) => csvOf(entries) },
  }),
  jobs: operation({
    operationId: 'listJobs',
    method: 'GET',
    path: 'api/jobs',
    summary: 'All jobs with their last run, last failure, success rate and percentiles',
    role: 'view',
    isHeavy: true,
    query: jobsQuery,
    answer: jobsSchema,
    run: async ({ health, runs }, { query }, { sees }) => {
      // Of all jobs, the node may have a list that is a second old.
      await health.expectAnswer();
      return { jobs: await inSlices(summariesOf(await runs.jobs(query.semaphore), sees), systemClock) };
    },
  }),
  semaphoreJobs: operation({
    operationId: 'getJobs',
    method: 'GET',
    path: 'api/semaphores/:name/jobs',
    summary: 'The past of the jobs of one semaphore: runs, failures with their stack, and days',
    role: 'view',
    isHeavy: true,
    params: nameParams,
    answer: jobSchema,
    run: async ({ runs }, { params }) => ({ jobs: await runs.jobs(params.name) }),
  }),
};

function* summariesOf(jobs: readonly JobRuns[], sees: Sees): Pieces<JobSummary[]> {
  const summaries: JobSummary[] = [];
  for (const job of jobs) {
    if (!sees || sees(job.semaphore)) summaries.push(summaryOf(job));
    yield 1;
  }
  return summaries;
}

export type JobAnswer = z.output<typeof jobSchema>;
