import { systemClock } from '../../core/async/node-clock.js';
import { Slices } from '../../core/async/slices.js';
import type { HistoryEntry } from '../../gatekeeper/index.js';

const COLUMNS = [
  'at',
  'semaphore',
  'job',
  'group',
  'acquirer',
  'instance',
  'outcome',
  'took_ms',
  'token',
  'slot',
  'detail',
] as const;

/** Rows of one piece. */
const CHUNK = 500;

/** Writes runs as CSV (RFC 4180), for spreadsheets. */
export async function* csvOf(entries: readonly HistoryEntry[]): AsyncGenerator<Buffer> {
  const slices = Slices.of(systemClock);
  yield Buffer.from(csvLine(COLUMNS));
  for (let at = 0; at < entries.length; at += CHUNK) {
    if (slices.isOver) await slices.turn();
    const rows = entries.slice(at, at + CHUNK).map((entry) => csvLine(cellsOf(entry)));
    yield Buffer.from(rows.join(''));
  }
}

function cellsOf(entry: HistoryEntry): (string | number | undefined)[] {
  const { semaphore, job, node } = entry;
  const begin = [timeOf(entry.at), semaphore, job, node.group, node.acquirer, node.instance];
  if (entry.kind === 'skip') return [...begin, 'skipped', undefined, undefined, undefined, entry.reason];
  const { token, slot } = entry;
  if (entry.kind === 'running') return [...begin, 'running', undefined, token, slot, undefined];
  return [...begin, entry.outcome, entry.took, token, slot, entry.message ?? entry.ended];
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}

/** Formats one line of CSV. */
export function csvLine(cells: readonly (string | number | undefined)[]): string {
  return `${cells.map(cellText).join(',')}\r\n`;
}

/**
 * A spreadsheet would run a text as a formula that begins with one of these characters, also in full width, and also after
 * blanks, quotes and characters that can't be seen. Names and messages may come from anywhere, so such a text gets an
 * apostrophe (OWASP, "CSV Injection").
 */
const FORMULA = /^[\s"\p{Cc}\p{Cf}]*[=+\-@|%\uff1d\uff0b\uff0d\uff20\u2212]/u;
/**
 * Spreadsheets of many countries take ";" for the separator, some programs a tab or "|". They don't see the quotes then, so a
 * cell begins behind each of these, and behind each line break.
 */
const OTHER_CELL = /(?<=[;\t|\r\n])(?=[\s"\p{Cc}\p{Cf}]*[=+\-@%\uff1d\uff0b\uff0d\uff20\u2212])/gu;

function cellText(value: string | number | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = value.replace(OTHER_CELL, "'");
  return `"${(FORMULA.test(value) ? `'${text}` : text).replaceAll('"', '""')}"`;
}
