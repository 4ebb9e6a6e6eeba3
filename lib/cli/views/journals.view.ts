import type { AuditEntry, HistoryEntry, RunEntry } from '../../gatekeeper/index.js';
import { LOSS_WORDS } from '../../core/context/loss-words.js';
import { formatDuration } from '../../operate/insight/format-duration.js';
import { plain } from '../text/plain.js';
import { table } from '../text/table.js';
import { timeText } from '../text/times.js';
import { differenceText } from './difference.js';

/** Formats runs and skips, in their order. */
export function historyText(entries: readonly HistoryEntry[]): string {
  if (entries.length === 0) return 'no runs';
  return table(['at', 'semaphore', 'job', 'node', 'outcome', 'took', 'token', 'remark'], entries.map(historyRow));
}

/** Formats one run or skip, as a line without columns. */
export function historyLine(entry: HistoryEntry): string {
  return plain(
    historyRow(entry)
      .filter((cell) => cell !== '' && cell !== '-')
      .join('  '),
  );
}

function historyRow(entry: HistoryEntry): string[] {
  const { at, semaphore, job, node } = entry;
  const begin = [timeText(at), semaphore, job, `${node.group}/${node.acquirer}`];
  if (entry.kind === 'run') {
    const { outcome, took, token } = entry;
    return [...begin, outcome, took === undefined ? '-' : formatDuration(took), tokenText(token), remarkOf(entry)];
  }
  if (entry.kind === 'running')
    return [
      ...begin,
      'running',
      '-',
      tokenText(entry.token),
      [causeOf(entry), lossOf(entry)].filter(Boolean).join(': '),
    ];
  const { reason, before } = entry;
  return [...begin, 'skipped', '-', '-', before ? `${reason}, before that ${before.count} x ${before.reason}` : reason];
}

function remarkOf({ outcome, message, ended, until, attempts = 1, ...entry }: RunEntry): string {
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

function tokenText(token: number | undefined): string {
  return token === undefined ? '-' : String(token);
}

/** Formats changes by people and programs, in their order. */
export function auditText(entries: readonly AuditEntry[]): string {
  if (entries.length === 0) return 'no changes';
  return table(['id', 'at', 'action', 'semaphore', 'by', 'revision', 'change', 'reason'], entries.map(auditRow));
}

const OUTCOMES = { unknown: 'OUTCOME UNKNOWN', 'not-made': 'NOT MADE' } as const;

function auditRow(entry: AuditEntry): string[] {
  const { id = '-', at, action, semaphore, by, revision, reason } = entry;
  return [
    id,
    timeText(at),
    action,
    semaphore,
    by,
    revision === undefined ? '-' : String(revision),
    [changeOf(entry), ...(entry.outcome === undefined ? [] : [OUTCOMES[entry.outcome]])].join(', '),
    reason ?? '',
  ];
}

function changeOf({ from, to, permit, target, order, task, job, count = 1 }: AuditEntry): string {
  if (job !== undefined) return job;
  if (task !== undefined) return count > 1 ? `${task} and ${count - 1} more` : task;
  if (order?.left !== undefined) return `${order.left} known resources are left`;
  if (order) return [order.resource, order.node].filter((each) => each !== undefined).join(' -> ');
  if (target) return `${permit?.acquirer ?? 'no leader'} -> ${target.acquirer}`;
  if (permit) return `slot ${permit.slot} of ${permit.acquirer}`;
  return to ? differenceText(from, to) : '-';
}
