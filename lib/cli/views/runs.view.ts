import type { JobSummary } from '../../gatekeeper/index.js';
import { formatDuration } from '../../operate/insight/format-duration.js';
import { table } from '../text/table.js';
import { timeText } from '../text/times.js';

const HEAD = ['semaphore', 'job', 'state', 'last run', 'took', 'last day', 'last 7 days', 'last failure'];

/** Formats jobs, one line each. */
export function runsText(jobs: readonly JobSummary[]): string {
  return jobs.length > 0 ? table(HEAD, jobs.map(row)) : 'no runs';
}

function row({ semaphore, job, state, runningSince, lastRun, lastFailure, day, week }: JobSummary): string[] {
  return [
    semaphore,
    job,
    state,
    timeText(runningSince ?? lastRun?.at ?? NaN),
    lastRun?.took === undefined ? '-' : formatDuration(lastRun.took),
    ratesText(day),
    ratesText(week),
    lastFailure ? `${timeText(lastFailure.at)} ${lastFailure.outcome}: ${lastFailure.message ?? '-'}` : '-',
  ];
}

/** Formats numbers of runs: "29 of 30 ok (96.7 %), p50 1.2 s, p95 3 s". */
export function ratesText({ ok, failed, lost, crashed, rate, p50, p95 }: JobSummary['day']): string {
  if (rate === undefined) return '-';
  const all = ok + failed + lost + crashed;
  // Rounded down: 100 % means that none failed.
  const percent = Math.floor(rate * 1000) / 10;
  const took = p50 === undefined || p95 === undefined ? '' : `, p50 ${formatDuration(p50)}, p95 ${formatDuration(p95)}`;
  return `${ok} of ${all} ok (${percent} %)${took}`;
}
