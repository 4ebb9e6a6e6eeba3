import fc from 'fast-check';
import { AFTER_ALL, storedForm, textOfStored } from '../../../lib/stores/postgres/stored-text.js';

/** Units at the borders of what is escaped, and some others. */
const unit = fc.constantFrom(...'\u0000\u0001\u0002a~\u1000\u17ff\ud7ff\ud800\udbff\udc00\udfff\ue000\ue001\uffff');
const text = fc.array(unit, { maxLength: 6 }).map((units) => units.join(''));

/** Order of PostgreSQL's collation "C": by UTF-8 bytes. */
const compare = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));
const sign = (one: string, other: string) => (one < other ? -1 : Number(one > other));

describe('a text in its stored form', () => {
  it('can be stored, and is read back as it was', () => {
    fc.assert(
      fc.property(text, (each) => {
        expect(storedForm(each)).not.toMatch(/\0|[\ud800-\udfff]/);
        expect(textOfStored(storedForm(each))).toBe(each);
      }),
    );
  });

  it('has its place by its bytes where JavaScript has it by its units', () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        expect(Math.sign(compare(storedForm(one), storedForm(other)))).toBe(sign(one, other));
      }),
      { numRuns: 2000 },
    );
  });

  it('begins with the stored form of its prefix, and comes before the end of all', () => {
    fc.assert(
      fc.property(text, text, (prefix, rest) => {
        expect(storedForm(prefix + rest)).toBe(storedForm(prefix) + storedForm(rest));
        expect(compare(storedForm(prefix + rest), storedForm(prefix) + AFTER_ALL)).toBe(-1);
      }),
    );
  });

  it('is the text itself if that has no special characters', () => {
    expect(storedForm('{"name":"Zürich 東京"}\n')).toBe('{"name":"Zürich 東京"}\n');
  });
});
