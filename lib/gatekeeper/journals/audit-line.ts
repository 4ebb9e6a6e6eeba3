import type { AuditEntry } from './audit.js';

/** Control characters that JSON leaves as they are, and what else some terminals and log readers take for a line's end. */
const UNESCAPED = /[\u007f-\u009f\u2028\u2029]/g;

/**
 * An entry of the audit log in full, as one line of the application's log: the journal in the store is bounded, and
 * later changes push earlier ones out. All values are quoted, so that no reason can look like a line of its own.
 */
export function auditLine(entry: AuditEntry): string {
  return `audit: ${JSON.stringify(entry).replaceAll(UNESCAPED, escaped)}`;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
