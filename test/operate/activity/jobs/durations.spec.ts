import fc from 'fast-check';
import { addedDurations, classOf, countOf, percentile } from '../../../../lib/operate/activity/jobs/durations.js';

const took = fc.integer({ min: 0, max: 30 * 86_400_000 });
const histogram = (all: readonly number[]) => addedDurations(...all.map((each) => [[classOf(each), 1] as const]));

describe('a histogram of durations', () => {
  it('gives each percentile within a tenth, in whole ms', () => {
    fc.assert(
      fc.property(fc.array(took, { minLength: 1, maxLength: 200 }), fc.constantFrom(0.5, 0.95, 1), (all, part) => {
        const exact = all.toSorted((one, other) => one - other)[Math.ceil(all.length * part) - 1]!;
        const found = percentile(histogram(all), part)!;
        // Half a class, and the rounding, which counts for short runs.
        expect(Math.abs(found - exact)).toBeLessThanOrEqual(exact * 0.091 + 0.5);
      }),
    );
  });

  it('is the same however it is added up', () => {
    fc.assert(
      fc.property(fc.array(took), fc.array(took), (some, others) => {
        expect(addedDurations(histogram(others), histogram(some))).toEqual(histogram([...some, ...others]));
        expect(countOf(histogram([...some, ...others]))).toBe(some.length + others.length);
      }),
    );
  });

  it('has no percentile without a run', () => {
    expect(percentile([], 0.5)).toBeUndefined();
  });
});
