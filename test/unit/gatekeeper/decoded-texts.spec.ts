import { describe, expect, it } from '@jest/globals';
import { DecodedTexts } from '../../../lib/records/decoded-texts.js';

describe('texts that are listed again and again', () => {
  const decodedFrom: string[] = [];
  const texts = new DecodedTexts((key, text) => {
    decodedFrom.push(key);
    return `${key}=${text}`;
  });
  const listed = (entries: Record<string, string>) => {
    decodedFrom.length = 0;
    return [[...texts.all(new Map(Object.entries(entries)))], [...decodedFrom]];
  };

  it('are decoded anew only when they are others, and forgotten when they are gone', () => {
    expect(listed({ a: '1', b: '1' })).toEqual([
      [
        ['a', 'a=1'],
        ['b', 'b=1'],
      ],
      ['a', 'b'],
    ]);
    expect(listed({ a: '1', b: '2' })).toEqual([
      [
        ['a', 'a=1'],
        ['b', 'b=2'],
      ],
      ['b'],
    ]);
    expect([...texts.some(new Map([['a', '3']]))]).toEqual([['a', 'a=3']]);
    expect(listed({ b: '2' })).toEqual([[['b', 'b=2']], []]);
    expect(listed({ a: '1', b: '2' })).toEqual([
      [
        ['a', 'a=1'],
        ['b', 'b=2'],
      ],
      ['a'],
    ]);
  });
});
