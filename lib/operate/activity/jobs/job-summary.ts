import type { RunEntry } from '../history-entry.js';
import type { JobRuns, RunStatistics } from './job-runs.js';

/** Numbers of runs, with the part of them that ended well. */
export interface RunRates extends RunStatistics {
  /** The part of the runs that ended well, from 0 to 1. Absent without runs. */
  readonly rate?: number;
}

/** One job in a list: how it is now, and how it was in the last days. */
export interface JobSummary {
  /** Name of the semaphore. */
  readonly semaphore: string;
  /** Name of the job. */
  readonly job: string;
  /** `running` while a run of 2 s or more goes on; otherwise the outcome of the last run. */
  readonly state: 'running' | RunEntry['outcome'];
  /** Start of the oldest run that goes on: cluster time, ms since the epoch. Absent if none does. */
  readonly runningSince?: number;
  /** The last run that is over. Absent if none is known. */
  readonly lastRun?: RunEntry;
  /** Start of the last run that ended well: cluster time, ms since the epoch. Absent if none is known. */
  readonly lastOk?: number;
  /** The last run that failed, crashed or lost its permit. Absent if none is known. */
  readonly lastFailure?: RunEntry;
  /** The last known time at which its schedule was due. Absent if it has no cron schedule. */
  readonly due?: number;
  /** Schedule under which it ran last. Absent if it has none. */
  readonly schedule?: string;
  /** The runs since 24 hours, by whole hours. */
  readonly day: RunRates;
  /** The runs of today and of the 6 days before (UTC). */
  readonly week: RunRates;
}

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
