import type { RunEntry } from '../history-answers.js';
import { withoutEnd } from '../history-entry.js';
import type { RunFacts } from './paired-runs.js';
import { addedDurations, countOf, percentile } from './durations.js';
import type { FailedRun, JobRuns, RunStatistics } from './job-answers.js';
import { type JobRecord, combined, ofRun, runKey } from './job-record.js';
import { DAY, type RunPeriod } from './run-periods.js';

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
