import fc from 'fast-check';
import { jsonInPieces } from '../../lib/console/http/json-in-pieces.js';

const written = (value: unknown) => [...jsonInPieces(value)].join('');
const many = <T>(value: T) => Array.from({ length: 300 }, () => value);

describe('JSON in pieces', () => {
  it('is what JSON.stringify writes', () => {
    const values = fc.oneof(
      fc.jsonValue(),
      fc.jsonValue().map(many),
      fc.dictionary(fc.string(), fc.jsonValue().map(many)),
    );
    fc.assert(fc.property(values, (value) => expect(written(value)).toBe(JSON.stringify(value))));
  });

  it.each([
    ['fields without a value', { a: undefined, b: many(1), c: { d: undefined } }],
    ['nothing but such fields', { list: Object.fromEntries(many(1).map((_, index) => [index, undefined])) }],
    ['items without a value', [...many(1), undefined]],
    ['lists in lists', many(many({ a: 1 }))],
    ['a long text', { text: 'x'.repeat(100_000), other: 1 }],
  ])('is so with %s', (_, value) => {
    expect(written(value)).toBe(JSON.stringify(value));
  });

  it('has no piece that is long, wherever a list stands', () => {
    const item = { name: 'a name of some length', holders: [{ id: 'x', slot: 0 }] };
    const nested = { now: 1, deep: { deeper: [{ all: many(item) }, { all: many(item) }] } };
    expect(Math.max(...[...jsonInPieces(nested)].map(({ length }) => length))).toBeLessThan(200);
  });
});
