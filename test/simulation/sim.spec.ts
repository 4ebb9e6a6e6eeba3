import { describe, expect, it } from '@jest/globals';
import { story } from './report.js';
import { simulate } from './schedule.js';
import { survey } from './survey.js';
import { HOLES, KEPT, type WeatherName } from './weather/weather.js';

/** A few of each, in the time that an `npm test` has; `npm run sim` carries out as many as you like. */
const SCHEDULES = 25;
const SCHEDULES_WITH_HOLES = 15;

describe('several nodes in a simulated cluster', () => {
  it.each(Object.keys(KEPT) as WeatherName[])('keep every promise when the weather is %s', async (weather) => {
    const { failures, grants } = await survey(1, SCHEDULES, { weather });
    if (failures[0]) throw new Error(await story(failures[0], { weather }));
    expect(grants).toBeGreaterThan(5 * SCHEDULES);
  });

  it.each(Object.keys(HOLES) as WeatherName[])(
    'break a promise in few schedules when the weather is %s',
    async (weather) => {
      const { failures } = await survey(1, SCHEDULES_WITH_HOLES, { weather });
      expect(failures.length).toBeLessThanOrEqual(2);
    },
  );

  it('go exactly the same way again with the same seed', async () => {
    const options = { weather: 'all', isTraced: true } as const;
    const once = await simulate(7, options);
    expect(once.trace.length).toBeGreaterThan(100);
    expect(await simulate(7, options)).toEqual(once);
  });
});
