import fc from 'fast-check';
import { DEEPEST, JsonScan, MOST_FIELDS, MOST_VALUES } from '../../lib/console/http/json-scan.js';

const faultOf = (text: string) => new JsonScan().add(Buffer.from(text));
const list = (count: number, value: string) => `[${Array(count).fill(value).join(',')}]`;
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const object = (count: number) =>
  `{${Array.from({ length: count }, (_, index) => `"f${index}" : ${index}`).join(', ')}}`;

describe('a JSON text that was not parsed yet', () => {
  it.each([
    ['32 levels', nested(DEEPEST), undefined],
    ['33 levels', nested(DEEPEST + 1), 'too deep'],
    ['33 levels of objects', '{"a":'.repeat(DEEPEST + 1), 'too deep'],
    ['many lists beside each other', list(1000, nested(DEEPEST - 1)), undefined],
    ['as many values as allowed', list(MOST_VALUES, '0'), undefined],
    ['one more', list(MOST_VALUES + 1, '0'), 'too many values'],
    ['as many empty lists as allowed', list(MOST_VALUES, '[ ]'), undefined],
    ['lists of one value, which count twice', list(MOST_VALUES / 2 + 1, '[0]'), 'too many values'],
    ['as many fields as allowed', object(MOST_FIELDS), undefined],
    ['one field more', object(MOST_FIELDS + 1), 'too many fields'],
    ['fields of many objects', list(MOST_FIELDS + 1, '{"a":1}'), 'too many fields'],
    ['signs within texts', JSON.stringify('[{,:"\\'.repeat(50_000)), undefined],
    ['a text that ends with a backslash, and then too many levels', `["\\\\",${nested(DEEPEST)}]`, 'too deep'],
    ['no JSON', ']]]}}}'.repeat(1000), undefined],
    ['nothing', '', undefined],
  ])('is judged by its signs: %s', (_, text, fault) => {
    expect(faultOf(text)).toBe(fault);
  });

  it('is judged the same in whichever pieces it comes', () => {
    const texts = fc.json({ depthSize: 'large' }).map((text) => `[${text},${nested(DEEPEST - 1)}]`);
    fc.assert(
      fc.property(texts, fc.boolean(), fc.integer({ min: 1, max: 7 }), (text, isTooDeep, size) => {
        const bytes = Buffer.from(isTooDeep ? `[${text}]` : text);
        const scan = new JsonScan();
        const faults = new Set<unknown>();
        for (let at = 0; at < bytes.length; at += size) faults.add(scan.add(bytes.subarray(at, at + size)));
        expect([...faults].at(-1)).toBe(isTooDeep ? 'too deep' : undefined);
      }),
    );
  });
});
