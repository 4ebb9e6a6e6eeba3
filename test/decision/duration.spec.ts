import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LONGEST_DURATION, readDuration, show } from '../../lib/decision/index.js';

describe('a duration', () => {
  it.each([
    [1, 1],
    [1.2, 2],
    ['500ms', 500],
    ['10s', 10_000],
    ['5m', 300_000],
    ['1.5h', 5_400_000],
    ['250', 250],
    [LONGEST_DURATION, LONGEST_DURATION],
  ])('of %p is %p ms', (value, expected) => {
    expect(readDuration(value)).toBe(expected);
  });

  it.each([
    ['', 'is not a duration'],
    ['abc', 'is not a duration'],
    ['5 fortnights', 'is not a duration'],
    ['x'.repeat(1_000_000), 'is not a duration'],
    [Number.NaN, 'is not a duration'],
    [Infinity, 'is not a duration'],
    [null, 'is not a duration'],
    [{}, 'is not a duration'],
    [true, 'is not a duration'],
    [0, 'must be more than 0'],
    [-1, 'must be more than 0'],
    ['-5s', 'must be more than 0'],
    [LONGEST_DURATION + 1, 'longer than a year'],
    ['2y', 'longer than a year'],
  ])('of %p is a fault in a sentence that shows it', (value, fault) => {
    expect(readDuration(value)).toContain(fault);
    expect(readDuration(value)).toContain(show(value));
  });

  it('is whole ms, never less than what was asked for', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-9, max: LONGEST_DURATION, noNaN: true }), (value) => {
        const read = readDuration(value);
        expect(Number.isInteger(read)).toBe(true);
        expect(read).toBeGreaterThanOrEqual(value);
      }),
    );
  });
});
