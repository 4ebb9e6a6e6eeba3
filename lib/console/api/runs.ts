import { z } from 'zod';
import type { JobRuns, JobSummary } from '../../gatekeeper/index.js';
import { systemClock } from '../../core/async/node-clock.js';
import { type Pieces, inSlices } from '../../core/async/slices.js';
import { list } from '../../core/decision/answer-values.js';
import { jobRunsSchema, jobSummarySchema } from '../../operate/activity/jobs/job-answers.js';
import { summaryOf } from '../../operate/activity/jobs/job-summary.js';
import { historySchema } from './answers.js';
import type { Sees } from './caller.js';
import { operation } from './operation.js';
import { historyQuery, jobsQuery, nameParams } from './requests.js';
import { csvOf } from './runs-csv.js';

const jobsSchema = z.object({ jobs: list<JobSummary>(jobSummarySchema) }).meta({ id: 'JobList' });
const jobSchema = z.object({ jobs: list<JobRuns>(jobRunsSchema) }).meta({ id: 'JobDetails' });

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
