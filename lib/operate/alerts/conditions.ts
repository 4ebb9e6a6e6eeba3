import { LEADER_PREFIX, messageWithCauses, word } from '../../core/decision/index.js';
import type { RunEntry } from '../activity/index.js';
import type { AlertKind } from '../../core/context/alert.js';
import type { EventOf } from '../../core/context/events.js';
import { LOSS_WORDS } from '../../core/context/loss-words.js';
import type {
  FaultPart,
  HealthFault,
  HealthFaultCode,
  HealthReport,
  SemaphoreOverview,
  Warning,
} from '../insight/index.js';
import { formatDuration, formatTime } from '../insight/format-duration.js';
import { type Condition, keyOf } from './alert.js';

/** Faults with a kind of their own. */
const KIND_OF_FAULT: Partial<Record<HealthFaultCode, AlertKind>> = {
  'store-unreachable': 'store-lost',
  'store-silent': 'store-lost',
  'store-failing': 'store-lost',
  // Nothing is granted without the time of the store.
  'clock-unread': 'store-lost',
  'no-quorum': 'quorum-lost',
  'clock-suspect': 'clock-suspect',
  'no-leader': 'no-leader',
  'resources-unowned': 'resources-unowned',
  'archive-failing': 'archive-failing',
};

/** A shutdown is no trouble, and an alert can't report that alerts don't arrive. */
const IGNORED: ReadonlySet<HealthFaultCode> = new Set(['closing', 'alerts-undelivered']);

const KIND_OF_WARNING: Partial<Record<Warning['code'], AlertKind>> = {
  'not-run': 'run-missed',
  'run-overdue': 'run-overdue',
  'runs-too-long': 'run-overdue',
  'no-node': 'no-node',
};

/**
 * ms after which a failed run of a job that has not run again is over. Otherwise jobs with names from arguments, which never
 * run again, would fire for ever. A week would end the failure of a weekly job just before its next run.
 */
const LONGEST_FAILURE = 8 * 86_400_000;

/** The parts of faults that several scopes or groups may have at once; the times are cluster time, ms since the epoch. */
export type FaultParts = Partial<Record<HealthFaultCode, readonly FaultPart[]>>;

/** The troubles in a node's health that have lasted for `pendingPeriod` ms: one per part of a fault. Pure. */
export function healthConditions(
  { faults, now }: HealthReport,
  pendingPeriod: number,
  parts: FaultParts = {},
): Condition[] {
  const conditions = new Map<string, Condition>();
  for (const fault of faults.filter(({ code }) => !IGNORED.has(code))) {
    for (const condition of conditionsOf(fault, parts[fault.code])) {
      const isPending = now - condition.since < pendingPeriod;
      if (!isPending && !conditions.has(keyOf(condition))) conditions.set(keyOf(condition), condition);
    }
  }
  return [...conditions.values()];
}

function conditionsOf({ code, since, sentence }: HealthFault, parts: readonly FaultPart[] | undefined): Condition[] {
  const { [code]: kind = 'degraded' } = KIND_OF_FAULT;
  if (parts) return parts.map((part) => ({ kind, ...part }));
  return [{ kind, subject: kind === 'degraded' ? code : '', since, sentence }];
}

/**
 * The troubles of all semaphores and of the newest runs of all jobs. The nodes of failed runs report these themselves.
 * Pure.
 *
 * @param now cluster time, ms since the epoch
 */
export function clusterConditions(
  semaphores: readonly SemaphoreOverview[],
  runs: readonly RunEntry[],
  now: number,
): Condition[] {
  const ofSemaphores = semaphores.flatMap((semaphore) => [
    ...semaphore.warnings.flatMap((warning) => warned(semaphore.name, warning, now)),
    ...longRun(semaphore, now),
  ]);
  return [...ofSemaphores, ...runs.filter(({ at }) => !isPast(at, now)).flatMap(unreportedRun)];
}

/** Whether a failed run is over, although its job has not run again. Both times are cluster time in ms. */
export function isPast(failedAt: number, now: number): boolean {
  return now - failedAt >= LONGEST_FAILURE;
}

function warned(semaphore: string, { code, sentence }: Warning, since: number): Condition[] {
  const kind = KIND_OF_WARNING[code];
  return kind ? [{ kind, subject: semaphore, semaphore, since, sentence: `${word(semaphore)}: ${sentence}` }] : [];
}

/**
 * A run that goes on for longer than the time until it is due again, of nodes that write no runs. A permit that outlasts its
 * duration is kept alive, so work goes on under it. Otherwise it may be a short run's, which lasts until it expires. Where
 * runs are written, they tell it themselves: each of many short runs refreshes one permit.
 */
function longRun({ name, jobs, holders, lastRun }: SemaphoreOverview, now: number): Condition[] {
  if (lastRun) return [];
  const interval = Math.max(...jobs.flatMap(({ schedule }) => schedule?.interval ?? []));
  const long = holders.find(
    ({ remaining, grantedAt, duration }) => remaining > 0 && now - grantedAt > Math.max(interval, duration),
  );
  if (!long || interval === -Infinity) return [];
  const sentence =
    `${word(name)}: a run on ${word(long.acquirer)} goes on since ${formatTime(long.grantedAt)}: ` +
    `longer than the ${formatDuration(interval)} until it is due again`;
  return [{ kind: 'run-overdue', subject: name, semaphore: name, since: long.grantedAt, sentence }];
}

/** A run that its own node does not report. A term of leadership is none: `no-leader` tells of a leader that died. */
function unreportedRun({ semaphore, job, node, at, outcome, loss }: RunEntry): Condition[] {
  const how = semaphore.startsWith(LEADER_PREFIX) ? undefined : endOf(outcome, loss);
  const sentence = `${word(semaphore)}: the run of ${word(job)} on ${word(node.acquirer)} ${how}`;
  return how === undefined ? [] : [{ ...jobOf({ semaphore, job }), since: at, sentence }];
}

function endOf(outcome: RunEntry['outcome'], loss: RunEntry['loss']): string | undefined {
  if (outcome === 'crashed') return 'crashed: its node no longer lives';
  if (outcome !== 'lost') return undefined;
  return `lost its permit before it ended${loss ? `: ${LOSS_WORDS[loss.reason]}` : ''}`;
}

/** The trouble of a run that failed on this node. @param since cluster time, ms since the epoch */
export function failedRun(event: EventOf<'run-finished'>, acquirer: string, since: number): Condition {
  const { semaphore, job, error } = event;
  const sentence = `${word(semaphore)}: ${word(job)} failed on ${word(acquirer)}: ${messageWithCauses(error)}`;
  return { ...jobOf(event), since, sentence };
}

/** Identifies the failed runs of a job. */
export function jobOf({ semaphore, job }: { readonly semaphore: string; readonly job: string }) {
  return { kind: 'run-failed', subject: `${semaphore}\n${job}`, semaphore, job } as const;
}
