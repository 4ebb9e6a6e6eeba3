import { type HistoryEntry, type RunEntry } from '../activity/index.js';
import { LEADERSHIP_JOB } from '../../core/decision/reserved-names.js';
import type { AuditEntry } from '../../core/context/answers.js';
import type { AuditAction } from '../../core/context/audit-actions.js';
import type { ScopeOverview, TermOverview } from './leader-answers.js';

/** The changes that end a term. */
const ENDING: ReadonlySet<AuditAction> = new Set(['step-down', 'transfer', 'revoke']);

/**
 * The terms of a scope, newest first. The present one comes from the record, the others from the history.
 *
 * @param runs of the scope's semaphore, newest first
 * @param audit of the scope's semaphore, newest first
 */
export function termsOf(
  scope: Pick<ScopeOverview, 'leader' | 'term' | 'since'>,
  runs: readonly HistoryEntry[],
  audit: readonly AuditEntry[],
): TermOverview[] {
  const { leader, term, since } = scope;
  const present = leader && term !== undefined ? [{ node: leader, token: term, from: since! }] : [];
  const changes = new Map(audit.flatMap((entry) => (endsTerm(entry) ? [[entry.permit!.token, entry] as const] : [])));
  const past = [...endedTerms(runs).values()].filter(({ token }) => token !== term);
  return [...present, ...past.map((run) => termOf(run, changes.get(run.token!)))].toSorted(
    (one, other) => other.token - one.token,
  );
}

function endsTerm({ action, permit }: AuditEntry): boolean {
  return permit !== undefined && ENDING.has(action);
}

/** A node that was taken for dead may report the end of its term itself, later. Its own report counts. */
function endedTerms(runs: readonly HistoryEntry[]): Map<number, RunEntry> {
  const terms = new Map<number, RunEntry>();
  for (const run of runs) {
    if (run.kind !== 'run' || run.job !== LEADERSHIP_JOB || run.token === undefined) continue;
    if (terms.get(run.token)?.ended === 'expired' || !terms.has(run.token)) terms.set(run.token, run);
  }
  return terms;
}

function termOf({ node, token, at, took, ended }: RunEntry, entry: AuditEntry | undefined): TermOverview {
  const { action, by, reason } = entry ?? {};
  const change = action && by !== undefined && { action, by, ...(reason !== undefined && { reason }) };
  return { node, token: token!, from: at, to: at + (took ?? 0), ...(ended && { ended }), ...(change && { change }) };
}
