import { LOSS_WORDS } from '../../core/context/loss-words.js';
import type { HistoryEntry, JobSummary, RunEntry } from '../../gatekeeper/index.js';
import { formatDuration } from '../../operate/insight/format-duration.js';
import type { Columns } from './column.js';
import { timeText } from './texts.js';

/** Runs and skips. */
export const RUN_COLUMNS = {
  when: { title: 'When', value: ({ at }) => at, kind: 'time', firstOrder: 'descending' },
  semaphore: { title: 'Semaphore', value: ({ semaphore }) => semaphore, firstOrder: 'ascending' },
  job: { title: 'Job', value: ({ job }) => job, firstOrder: 'ascending' },
  node: {
    title: 'Node',
    value: ({ node }) => node.acquirer,
    text: ({ node }) => `${node.group}/${node.acquirer}`,
    firstOrder: 'ascending',
  },
  outcome: { title: 'Outcome', value: outcomeOf, firstOrder: 'ascending' },
  took: {
    title: 'Took',
    value: (entry) => (entry.kind === 'run' ? entry.took : undefined),
    kind: 'duration',
    firstOrder: 'descending',
  },
  token: { title: 'Token', value: (entry) => (entry.kind === 'skip' ? undefined : entry.token) },
  remark: { title: 'Remark', value: remarkOf },
} satisfies Columns<HistoryEntry>;

function outcomeOf(entry: HistoryEntry): string {
  if (entry.kind === 'run') return entry.outcome;
  return entry.kind === 'running' ? 'running' : 'skipped';
}

function remarkOf(entry: HistoryEntry): string {
  if (entry.kind === 'run') return remarkOfRun(entry);
  if (entry.kind === 'running') return [causeOf(entry), lossOf(entry)].filter(Boolean).join(': ');
  const { reason, before } = entry;
  return before ? `${reason}, before that ${before.count} x ${before.reason}` : reason;
}

function remarkOfRun({ outcome, message, ended, until, attempts = 1, ...entry }: RunEntry): string {
  const about = [causeOf(entry), attempts > 1 ? `${attempts} attempts` : ''].filter(Boolean).join(', ');
  const stays =
    until === undefined ? undefined : `its end is not known, so its permit is free only at ${timeText(until)}`;
  if (outcome !== 'crashed') return [about, lossOf(entry), stays ?? message ?? ended].filter(Boolean).join(': ');
  return until === undefined ? 'its node no longer lives' : `its node no longer lives; permit until ${timeText(until)}`;
}

/** Why its permit ended before the run did. */
function lossOf({ loss }: Pick<RunEntry, 'loss'>): string {
  return loss ? `without its permit since ${timeText(loss.at)}, because ${LOSS_WORDS[loss.reason]}` : '';
}

/** Why it ran, if no scheduler has started it. */
function causeOf({ by, missed }: Pick<RunEntry, 'by' | 'missed'>): string {
  if (missed !== undefined) return `makes up for ${timeText(missed)}`;
  return by === undefined ? '' : `run by hand, ${by}`;
}

/** Jobs with their past. */
export const JOB_COLUMNS = {
  semaphore: { title: 'Semaphore', value: ({ semaphore }) => semaphore },
  job: { title: 'Job', value: ({ job }) => job },
  state: { title: 'State', value: ({ state }) => state },
  last: { title: 'Last run', value: ({ runningSince, lastRun }) => runningSince ?? lastRun?.at ?? NaN, kind: 'time' },
  took: { title: 'Took', value: ({ lastRun }) => lastRun?.took, kind: 'duration' },
  day: { title: 'Last day', value: ({ day }) => ratesText(day) },
  week: { title: 'Last 7 days', value: ({ week }) => ratesText(week) },
  failure: {
    title: 'Last failure',
    value: ({ lastFailure }) =>
      lastFailure && `${timeText(lastFailure.at)} ${lastFailure.outcome}: ${lastFailure.message ?? '-'}`,
  },
} satisfies Columns<JobSummary>;

/** Formats numbers of runs: "29 of 30 ok (96.7 %), p50 1.2 s, p95 3 s". */
function ratesText({ ok, failed, lost, crashed, rate, p50, p95 }: JobSummary['day']): string | undefined {
  if (rate === undefined) return undefined;
  const all = ok + failed + lost + crashed;
  // Rounded down: 100 % means that none failed.
  const percent = Math.floor(rate * 1000) / 10;
  const took = p50 === undefined || p95 === undefined ? '' : `, p50 ${formatDuration(p50)}, p95 ${formatDuration(p95)}`;
  return `${ok} of ${all} ok (${percent} %)${took}`;
}
