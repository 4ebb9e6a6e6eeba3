import { safeJson } from '../decision/index.js';
import type { AuditEntry } from '../context/audit-entry.js';

/**
 * An entry of the audit log in full, as one line of the application's log: the journal in the store is bounded, and
 * later changes push earlier ones out. All values are quoted, so that no reason can look like a line of its own.
 */
export function auditLine(entry: AuditEntry): string {
  return `audit: ${safeJson(entry)}`;
}
