import { LOSS_WORDS } from '../../core/context/loss-words.js';
import { type JobRuns, MOST_FAILURES, type RunEntry, type RunningEntry } from '../activity/index.js';
import { formatDuration, formatTime } from './format-duration.js';
import type { ScheduledJob } from './scheduled-job.js';
import type { Warning } from './warning.js';

const DAY = 86_400_000;
/** A run is overdue after this many times the duration that 95 % of the runs did not exceed. */
const FACTOR = 3;
/** ms: a short run is not overdue before. */
const SHORTEST = 60_000;
/** Number of runs from which percentiles say something. */
const ENOUGH = 20;
/** Characters of an error in a sentence. */
const LONGEST = 200;

/** A job that failed within the last day stays in view that long, also if it ran well since. */
export function failedLately({ job, failures }: JobRuns, now: number): Warning[] {
  const recent = failures.filter(({ at, took = 0 }) => at + took > now - DAY);
  const [last] = recent;
  if (!last) return [];
  // If all failures that are kept are of the last day, there may have been more.
  const times =
    recent.length === 1 ? 'once' : `${recent.length >= MOST_FAILURES ? 'at least ' : ''}${recent.length} times`;
  const sentence = `${job} failed ${times} in the last day, last ${formatTime(last.at)} on ${last.node.acquirer}: ${errorOf(last)}`;
  return [{ code: 'run-failed', sentence }];
}

/** The cause comes first: the error of a run that lost its permit often only says that its signal aborted. */
function errorOf({ outcome, message, loss }: RunEntry): string {
  const error = message === undefined ? undefined : inOneLine(message);
  if (outcome === 'lost') {
    const lost = `it lost its permit${loss ? `, because ${LOSS_WORDS[loss.reason]}` : ''}`;
    return error === undefined ? lost : `${lost} (${error})`;
  }
  return error ?? 'its node crashed';
}

/** A sentence is one line. Otherwise its reader would see an escaped line break. */
function inOneLine(message: string): string {
  const line = message.trim().replaceAll(/\s*[\r\n]+\s*/g, ' ');
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}

/**
 * A run that goes on without its permit, or that takes longer than the time until it is due again, or much longer than
 * usual, while it goes on.
 */
export function overdueRun(
  { job, at, node, loss }: RunningEntry,
  jobs: readonly ScheduledJob[],
  past: JobRuns | undefined,
  now: number,
): Warning[] {
  const took = now - at;
  if (loss) {
    const sentence =
      `a run of ${job} goes on for ${formatDuration(took)} (started ${formatTime(at)}, on ${node.acquirer}), and has ` +
      `had no permit since ${formatTime(loss.at)}, because ${LOSS_WORDS[loss.reason]}: it does not react to its signal`;
    return [{ code: 'run-overdue', sentence }];
  }
  const limit = [...intervalOf(job, jobs), ...usualOf(past)].find(({ ms }) => took > ms);
  if (!limit) return [];
  const sentence =
    `a run of ${job} goes on for ${formatDuration(took)} (started ${formatTime(at)}, on ${node.acquirer}): ` +
    `longer than ${limit.what}`;
  return [{ code: 'run-overdue', sentence }];
}

interface Limit {
  readonly ms: number;
  readonly what: string;
}

function intervalOf(job: string, jobs: readonly ScheduledJob[]): Limit[] {
  const intervals = jobs.flatMap(({ card }) => (card.job === job ? (card.schedule?.interval ?? []) : []));
  const ms = Math.min(...intervals);
  return ms === Infinity ? [] : [{ ms, what: `the ${formatDuration(ms)} until it is due again` }];
}

function usualOf(past: JobRuns | undefined): Limit[] {
  const { ok = 0, p95 } = past?.week ?? {};
  if (ok < ENOUGH || p95 === undefined) return [];
  const what = `${FACTOR} times the ${formatDuration(p95)} in which 95 % of its runs ended`;
  return [{ ms: Math.max(SHORTEST, FACTOR * p95), what }];
}
