import { inSlices } from '../../../lib/core/async/slices.js';
import { systemClock } from '../../../lib/core/async/node-clock.js';
import { DecodeCache } from '../../../lib/core/cell/decode-cache.js';

describe('texts that are listed again and again', () => {
  const decodedFrom: string[] = [];
  const texts = new DecodeCache(function* (key, text) {
    decodedFrom.push(key);
    yield 1;
    return `${key}=${text}`;
  });
  const listed = async (entries: Record<string, string>) => {
    decodedFrom.length = 0;
    return [[...(await inSlices(texts.all(new Map(Object.entries(entries))), systemClock))], [...decodedFrom]];
  };

  it('are decoded anew only when they are others, and forgotten when they are gone', async () => {
    expect(await listed({ a: '1', b: '1' })).toEqual([
      [
        ['a', 'a=1'],
        ['b', 'b=1'],
      ],
      ['a', 'b'],
    ]);
    expect(await listed({ a: '1', b: '2' })).toEqual([
      [
        ['a', 'a=1'],
        ['b', 'b=2'],
      ],
      ['b'],
    ]);
    expect([...(await inSlices(texts.some(new Map([['a', '3']])), systemClock))]).toEqual([['a', 'a=3']]);
    expect(await listed({ b: '2' })).toEqual([[['b', 'b=2']], []]);
    expect(await listed({ a: '1', b: '2' })).toEqual([
      [
        ['a', 'a=1'],
        ['b', 'b=2'],
      ],
      ['a'],
    ]);
  });
});
