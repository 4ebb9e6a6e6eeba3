import { describe, expect, it } from '@jest/globals';
import { simulate } from './schedule.js';
import type { LengthName } from './weather/length.js';
import type { Bugs } from './world/world.js';

/** In so many schedules each bug must be found. */
const ENOUGH = { short: 500, long: 25 };

/** The first thing that the checker says of any of some schedules, `about` what is asked for. */
async function firstComplaint(length: LengthName, bugs: Bugs, about = ''): Promise<string> {
  for (let seed = 1; seed <= ENOUGH[length]; seed++) {
    const { violations } = await simulate(seed, { weather: 'stormy', length, bugs });
    const complaint = violations.find((violation) => violation.includes(about));
    if (complaint) return complaint;
  }
  return 'nothing';
}

describe.each(['short', 'long'] as const)('the checker, in %s schedules,', (length) => {
  it('finds a store that does not compare before it sets', async () => {
    expect(await firstComplaint(length, { ignoresExpected: true }, 'S1')).toContain('S1');
  });

  it('finds a late release that frees whoever holds the slot now', async () => {
    expect(await firstComplaint(length, { releasesByName: true }, 'S1')).toContain('S1');
  });

  it('finds holders whose clocks stand still, so that they never see the end of their lease', async () => {
    expect(await firstComplaint(length, { clocksStandStill: true }, 'S1')).toContain('S1');
  });

  it('has nothing to say of the same schedules without a bug', async () => {
    expect(await firstComplaint(length, {})).toBe('nothing');
  });
});
