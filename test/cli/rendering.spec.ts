import { plain } from '../../lib/cli/text/plain.js';
import { excerpt, fields, table } from '../../lib/cli/text/table.js';
import { yaml } from '../../lib/cli/text/yaml.js';
import fc from 'fast-check';
import { parse } from 'yaml';
import { timeText } from '../../lib/console/lists/texts.js';

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

  it('does not widen a column for one long cell', () => {
    const long = 'x'.repeat(60);
    expect(
      table(
        ['name', 'n'],
        [
          [long, '1'],
          ['a'.repeat(48), '2'],
          ['b', '3'],
        ],
      ).split('\n'),
    ).toEqual([`NAME${' '.repeat(46)}N`, `${long}  1`, `${'a'.repeat(48)}  2`, `b${' '.repeat(49)}3`]);
  });

  it('writes as YAML what a parser reads as the same value', () => {
    expect(yaml({ a: [{ b: 1, c: [] }, [2, 'x']], no: { 'd e': null } })).toBe(
      'a:\n  - b: 1\n    c: []\n  - - 2\n    - "x"\n"no":\n  "d e": null',
    );
    const keys = fc.oneof(fc.string(), fc.constantFrom('yes', 'Null', '1', '', '- a', 'a:', '#', '__proto__'));
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.string({ unit: 'binary' }),
        fc.double(),
        fc.boolean(),
        fc.constant(null),
        tie('list'),
        tie('object'),
      ),
      list: fc.array(tie('value'), { maxLength: 4 }),
      object: fc.dictionary(keys, tie('value'), { maxKeys: 4 }),
    }));
    fc.assert(
      fc.property(value, (any) => {
        const same: unknown = JSON.parse(JSON.stringify(any));
        expect(parse(yaml(any))).toEqual(same);
      }),
    );
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
