import { describe, expect, it } from '@jest/globals';
import { plain } from '../../lib/cli/text/plain.js';
import { excerpt, fields, table } from '../../lib/cli/text/table.js';
import { timeText } from '../../lib/cli/text/times.js';

describe('text of the command line', () => {
  it('aligns columns by the cells that a terminal gives them, and leaves no blanks at the end', () => {
    const rows = [
      ['größe', '1', ''],
      ['a', '22', 'x'],
      ['👩‍👩‍👧‍👦', '3', ''],
      ['夜間', '4', ''],
      ['e\u0301', '5', ''],
    ];
    const lines = ['NAME   N   WHY', 'größe  1', 'a      22  x', '👩‍👩‍👧‍👦     3', '夜間   4', 'e\u0301      5'];
    expect(table(['name', 'n', 'why'], rows)).toBe(lines.join('\n'));
  });

  it('keeps each row on its line, whatever its cells hold', () => {
    expect(table(['a'], [['one\r\ntwo\u001B[31m']])).toBe('A\none\\r\\ntwo\\u001b[31m');
  });

  it('shows the first rows of many and how many more there are', () => {
    const rows = Array.from({ length: 45 }, (_, index) => [String(index)]);
    expect(excerpt(['n'], rows).split('\n')).toHaveLength(42);
    expect(excerpt(['n'], rows)).toMatch(/\n39\n\.\.\. and 5 more \(--json shows all\)$/);
    expect(excerpt(['n'], rows.slice(0, 40))).toMatch(/\n39$/);
  });

  it('leaves out fields without a value', () => {
    const text = fields([
      ['group', 'a'],
      ['acquirer', undefined],
      ['revision', '2'],
    ]);
    expect(text).toBe('group     a\nrevision  2');
  });

  it('writes a moment in UTC, and what is none as a question', () => {
    expect(timeText(Date.UTC(2026, 10, 21, 16, 40, 5))).toBe('2026-11-21 16:40:05Z');
    expect(timeText(NaN)).toBe('?');
    expect(timeText(1e20)).toBe('?');
  });

  it('escapes what a terminal would obey, and nothing else', () => {
    expect(plain('a\u001B[2Jb\tc\u0085d\u2028e\u202Ef')).toBe(String.raw`a\u001b[2Jb\tc\u0085d\u2028e\u202ef`);
    expect(plain('größe 👍 "<b>"')).toBe('größe 👍 "<b>"');
  });
});
