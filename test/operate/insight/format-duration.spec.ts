import { exactDuration } from '../../../lib/core/decision/texts/exact-duration.js';
import { formatDuration } from '../../../lib/operate/insight/format-duration.js';

describe('a duration', () => {
  it.each([
    [-5, '0 ms'],
    [0, '0 ms'],
    [0.4, '0 ms'],
    [999, '999 ms'],
    [999.6, '1 s'],
    [1000, '1 s'],
    [1500, '1.5 s'],
    [59_949, '59.9 s'],
    [59_960, '1 min'],
    [90_000, '1 min 30 s'],
    [90_499, '1 min 30 s'],
    [3_599_600, '1 h'],
    [5_400_000, '1 h 30 min'],
    [7_199_999, '2 h'],
    [86_400_000, '1 d'],
    [200_000_000, '2 d 8 h'],
    [NaN, 'NaN min'],
  ])('of %d ms is written as people say it', (duration, text) => {
    expect(formatDuration(duration)).toBe(text);
  });

  it.each([
    [0, '0ms'],
    [600_000, '10m'],
    [90_000, '90s'],
    [1500, '1500ms'],
    [86_400_000, '1d'],
    [5_400_000, '90m'],
  ])('of %d ms is written exactly, as it may be given', (duration, text) => {
    expect(exactDuration(duration)).toBe(text);
  });
});
