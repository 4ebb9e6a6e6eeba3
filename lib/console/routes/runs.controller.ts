import type { StreamableFile } from '@nestjs/common';
import { systemClock } from '../../core/async/node-clock.js';
import { type Pieces, inSlices } from '../../core/async/slices.js';
import { type JobRuns, type JobSummary, partsOf, summaryOf } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { type HistoryAnswer, type InputOf, type JobAnswer, type JobsAnswer, ROUTES } from '../api/index.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import type { ConsoleRequest } from '../http/console-request.js';
import type { Sees } from '../http/visitor.js';
import { Input, Req, SeenNames } from '../http/input.decorator.js';
import { Serves } from '../http/handlers.js';
import { csvOf } from './runs-csv.js';

/** Serves the runs of all nodes, and the past of each job. */
@ConsoleController()
export class RunsController {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Serves(ROUTES.history)
  async history(
    @Input() { query }: InputOf<typeof ROUTES.history>,
    @Req() { headers }: ConsoleRequest,
    @SeenNames() sees: Sees,
  ): Promise<HistoryAnswer | StreamableFile> {
    const { format = formatOf(headers.accept), ...wanted } = query;
    const entries = await this.gatekeeper.runs.find(wanted, sees);
    return format === 'csv' ? csvOf(entries) : { entries };
  }

  @Serves(ROUTES.jobs)
  async jobs(@Input() { query }: InputOf<typeof ROUTES.jobs>, @SeenNames() sees: Sees): Promise<JobsAnswer> {
    // Of all jobs, the node may have a list that is a second old.
    await partsOf(this.gatekeeper).health.expectAnswer();
    const jobs = await this.gatekeeper.runs.jobs(query.semaphore);
    return { jobs: await inSlices(summariesOf(jobs, sees), systemClock) };
  }

  @Serves(ROUTES.semaphoreJobs)
  async jobsOf(@Input() { params: { name } }: InputOf<typeof ROUTES.semaphoreJobs>): Promise<JobAnswer> {
    return { jobs: await this.gatekeeper.runs.jobs(name) };
  }
}

function* summariesOf(jobs: readonly JobRuns[], sees: Sees): Pieces<JobSummary[]> {
  const summaries: JobSummary[] = [];
  for (const job of jobs) {
    if (!sees || sees(job.semaphore)) summaries.push(summaryOf(job));
    yield 1;
  }
  return summaries;
}

/** CSV only for a client that names it and not JSON, because browsers accept everything. */
function formatOf(accept = ''): 'json' | 'csv' {
  return /\btext\/csv\b/i.test(accept) && !/\bapplication\/json\b/i.test(accept) ? 'csv' : 'json';
}
