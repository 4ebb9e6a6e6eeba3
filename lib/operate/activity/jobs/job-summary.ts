import type { RunEntry } from '../history-answers.js';
import type { JobRuns, RunStatistics, JobSummary, RunRates } from './job-answers.js';

/** Leaves out the single runs and days of a job. Pure. */
export function summaryOf(past: JobRuns): JobSummary {
  const { semaphore, job, runs, running, failures, lastOk, due, schedule, day, week } = past;
  const [lastRun] = runs;
  const [lastFailure] = failures;
  const since = running.at(-1)?.at;
  return {
    semaphore,
    job,
    // A job without runs is kept only for a run that goes on.
    state: since === undefined && lastRun ? lastRun.outcome : 'running',
    ...(since !== undefined && { runningSince: since }),
    ...(lastRun && { lastRun }),
    ...(lastOk !== undefined && { lastOk }),
    ...(lastFailure && { lastFailure: withoutStack(lastFailure) }),
    ...(due !== undefined && { due }),
    ...(schedule !== undefined && { schedule }),
    day: withRate(day),
    week: withRate(week),
  };
}

function withoutStack({ stack: _stack, ...run }: JobRuns['failures'][number]): RunEntry {
  return run;
}

function withRate(statistics: RunStatistics): RunRates {
  const { ok, failed, lost, crashed } = statistics;
  const all = ok + failed + lost + crashed;
  return all === 0 ? statistics : { ...statistics, rate: ok / all };
}
