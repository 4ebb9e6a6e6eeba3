import { type RunEntry, type RunningEntry, withoutEnd } from '../history-entry.js';
import type { RunFacts } from './paired-runs.js';
import { addedDurations, countOf, percentile } from './durations.js';
import { type FailedRun, type JobRecord, type JobVersion, combined, ofRun, runKey } from './job-record.js';
import { DAY, type RunPeriod } from './run-periods.js';

/** Numbers of runs by their outcome, and how long the good ones took. */
export interface RunStatistics {
  /** Runs that ended well. */
  readonly ok: number;
  /** Runs that threw an error. */
  readonly failed: number;
  /** Runs that ended without the permit that they began with. */
  readonly lost: number;
  /** Runs whose node crashed. */
  readonly crashed: number;
  /** Median duration of the runs that ended well, in ms; at most 10 % off. Absent if there was none. */
  readonly p50?: number;
  /** Duration in ms that 95 % of the runs that ended well did not exceed; at most 10 % off. Absent if there was none. */
  readonly p95?: number;
}

/** The runs of a job that began on one day. */
export interface RunDay extends RunStatistics {
  /** Begin of the day in UTC: ms since the epoch. */
  readonly at: number;
}

/** The past of one job on all nodes. Runs of other jobs don't push it out. */
export interface JobRuns {
  /** Name of the semaphore. */
  readonly semaphore: string;
  /** Name of the job. */
  readonly job: string;
  /** The last 20 runs that are over, newest first. */
  readonly runs: readonly RunEntry[];
  /** Runs of 2 s or more that go on, newest first. */
  readonly running: readonly RunningEntry[];
  /** The last 10 runs that failed, crashed or lost their permit, newest first. The newest 5 have the stack of their error. */
  readonly failures: readonly FailedRun[];
  /** The runs since 24 hours, by whole hours. */
  readonly day: RunStatistics;
  /** The runs of today and of the 6 days before (UTC). */
  readonly week: RunStatistics;
  /** The days with runs, oldest first, for 35 days. */
  readonly days: readonly RunDay[];
  /** Start of the last run that ended well: cluster time, ms since the epoch. Absent if none is known. */
  readonly lastOk?: number;
  /**
   * The last known time at which its schedule was due: cluster time, ms since the epoch. Absent if it has no cron schedule.
   */
  readonly due?: number;
  /** Schedule under which it ran last: "0 3 * * *". Absent if it has none. */
  readonly schedule?: string;
  /** The last 10 versions of the application under which it ran, newest first. Absent if its nodes have no `version`. */
  readonly versions?: readonly JobVersion[];
}

const WEEK = 7;

/** Shows a record to people: a start without an end is a run that goes on or crashed. Pure. @param now cluster time in ms */
export function jobRuns(stored: JobRecord, facts: RunFacts, now: number): JobRuns {
  const record = withCrashes(stored, facts, now);
  const { semaphore, job, runs, failures, starts, hours, days, lastOk, due, schedule, versions } = record;
  const today = now - (now % DAY);
  return {
    semaphore,
    job,
    runs: withMessages(runs, failures),
    running: starts.map(({ until: _until, ...start }) => ({ ...start, kind: 'running' })),
    failures,
    day: statisticsOf(hours),
    week: statisticsOf(days.filter(({ at }) => at > today - WEEK * DAY)),
    days: days.map((day) => ({ at: day.at, ...statisticsOf([day]) })),
    ...(lastOk !== undefined && { lastOk }),
    ...(due !== undefined && { due }),
    ...(schedule !== undefined && { schedule }),
    ...(versions !== undefined && { versions }),
  };
}

/** The newest run of each job. */
export function newestOf(past: readonly JobRuns[]): RunEntry[] {
  return past.flatMap(({ runs }) => runs.slice(0, 1));
}

function withCrashes(record: JobRecord, facts: RunFacts, now: number): JobRecord {
  // Periods that became too old since the last write are dropped, too.
  let shown = combined(record, { ...record, runs: [], failures: [], starts: [], hours: [], days: [] }, now);
  for (const start of record.starts) {
    if (facts.isLiving(start)) continue;
    shown = combined(shown, ofRun(withoutEnd(start, facts.expiryOf(start))), now);
  }
  return shown;
}

/** Adds the messages, which only the failures have. */
function withMessages(runs: readonly RunEntry[], failures: readonly FailedRun[]): RunEntry[] {
  return runs.map((run) => {
    const message = failures.find((each) => runKey(each) === runKey(run))?.message;
    return run.outcome === 'ok' || message === undefined ? run : { ...run, message };
  });
}

function statisticsOf(periods: readonly RunPeriod[]): RunStatistics {
  const sum = (field: 'ok' | 'failed' | 'lost' | 'crashed') => periods.reduce((all, period) => all + period[field], 0);
  const took = addedDurations(...periods.map((period) => period.took));
  const known = countOf(took) > 0 && { p50: percentile(took, 0.5)!, p95: percentile(took, 0.95)! };
  return { ok: sum('ok'), failed: sum('failed'), lost: sum('lost'), crashed: sum('crashed'), ...known };
}
