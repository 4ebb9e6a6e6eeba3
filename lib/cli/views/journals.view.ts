import { AUDIT_COLUMNS } from '../../console/lists/changes.js';
import { RUN_COLUMNS } from '../../console/lists/runs.js';
import type { AuditEntry, HistoryEntry } from '../../gatekeeper/index.js';
import { plain } from '../text/plain.js';
import { cellsOf, table } from '../text/table.js';

/** Formats runs and skips, in their order. */
export function historyText(entries: readonly HistoryEntry[]): string {
  return entries.length > 0 ? table(...cellsOf(RUN_COLUMNS, entries)) : 'no runs';
}

/** Formats one run or skip, as a line without columns. */
export function historyLine(entry: HistoryEntry): string {
  const [, [cells = []]] = cellsOf(RUN_COLUMNS, [entry]);
  return plain(cells.filter((cell) => cell !== '' && cell !== '-').join('  '));
}

/** Formats changes by people and programs, in their order. */
export function auditText(entries: readonly AuditEntry[]): string {
  return entries.length > 0 ? table(...cellsOf(AUDIT_COLUMNS, entries)) : 'no changes';
}
