import { RECONNECT, pauseAfter } from '../../../lib/core/async/backoff.js';

describe('the pause after failures', () => {
  it.each([
    [0, 0, 50],
    [0, 1, 100],
    [3, 1, 800],
    [3, 0, 400],
    [40, 1, 5000],
    [5000, 0, 2500],
  ])('to connect: after %d failures, by chance %d, %d ms', (failures, random, expected) => {
    expect(pauseAfter(failures, random, RECONNECT)).toBe(expected);
  });

  it.each([
    [0, 0.5, 2],
    [2, 0.25, 4],
    [2, 0, 0],
    [30, 1, 200],
  ])('with other bounds, all of it left to chance: after %d failures, by chance %d, %d ms', (failures, random, ms) => {
    expect(pauseAfter(failures, random, { first: 4, longest: 200, jitter: 1 })).toBe(ms);
  });
});
