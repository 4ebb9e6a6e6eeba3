import { describe, expect, it } from '@jest/globals';
import { formatDuration } from '../../lib/insight/format-duration.js';

describe('a duration as people say it', () => {
  it.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [1000, '1 s'],
    [1500, '1 s 500 ms'],
    [90_000, '1 min 30 s'],
    [90_499, '1 min 30 s'],
    [5_400_000, '1 h 30 min'],
    [7_199_999, '2 h'],
    [86_400_000, '1 d'],
    [200_000_000, '2 d 8 h'],
  ])('has its two largest units: %i', (duration, spoken) => {
    expect(formatDuration(duration)).toBe(spoken);
  });
});
