import fc from 'fast-check';
import { LATE, type PlannedTimes, dueAfter, tickOfRun } from '../../../../lib/core/permits/missed/last-tick.js';
import { every } from './planned.js';

const HOUR = 3_600_000;
const hourly = every(HOUR);

describe('the planned time that was missed', () => {
  it.each([
    ['none has passed', 10 * HOUR, 10 * HOUR + 5, undefined],
    ['one has passed', 10 * HOUR, 11 * HOUR + LATE, { tick: 11 * HOUR }],
    ['several have passed: the last one', 10 * HOUR, 15 * HOUR + 2 * LATE, { tick: 15 * HOUR }],
    ['a node may be about to run it', 10 * HOUR, 11 * HOUR + 20_000, { again: LATE - 20_000 }],
  ])('%s', (_, last, now, due) => {
    expect(dueAfter(hourly, last, now)).toEqual(due);
  });
});

describe('the planned time of a run', () => {
  it.each([
    ['on time', 10 * HOUR, 11 * HOUR, 11 * HOUR],
    ['late', 10 * HOUR, 11 * HOUR + 50_000, 11 * HOUR],
    ['early, because the clock of its node is ahead', 10 * HOUR, 11 * HOUR - 50_000, 11 * HOUR],
    ['between two: the one before', 10 * HOUR, 11 * HOUR - 2 * LATE, undefined],
  ])('%s', (_, last, now, tick) => {
    expect(tickOfRun(hourly, last, now)).toBe(tick);
  });

  it('is the nearer one when planned times are close together', () => {
    expect(tickOfRun(every(60_000), 0, 10 * 60_000 + 29_000)).toBe(10 * 60_000);
    expect(tickOfRun(every(60_000), 0, 10 * 60_000 + 31_000)).toBe(11 * 60_000);
  });
});

it('a run that was noted is never due later, and a missed one is due after a minute', () => {
  const times = fc.record({
    period: fc.integer({ min: 1000, max: 10 * HOUR }),
    now: fc.integer({ min: 20 * HOUR, max: 400 * HOUR }),
  });
  fc.assert(
    fc.property(times, fc.integer({ min: 0, max: HOUR }), ({ period, now }, later) => {
      const planned: PlannedTimes = every(period);
      const noted = tickOfRun(planned, now - 20 * HOUR, now) ?? now;
      const due = dueAfter(planned, noted, now + later);
      // Nothing up to the run itself is due again.
      expect(due && 'tick' in due ? due.tick : Infinity).toBeGreaterThan(now - period / 2 - 1);
      const missed = dueAfter(planned, now - 20 * HOUR, now);
      expect(missed && 'tick' in missed ? now - missed.tick : LATE).toBeGreaterThanOrEqual(LATE);
    }),
  );
});
