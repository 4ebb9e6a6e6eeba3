import fc from 'fast-check';
import { trendOf } from './trend.js';

const line = (slope: number, level: number, count = 30) =>
  Array.from({ length: count }, (_, index) => ({ at: index / 2, value: level + (slope * index) / 2 }));

describe('the trend of a figure', () => {
  it('is the slope of a line, with its ends', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1000, max: 1000 }), fc.integer({ min: 0, max: 100_000 }), (slope, level) => {
        const trend = trendOf(line(slope, level));
        expect(trend.slope).toBeCloseTo(slope);
        expect(trend.from).toBeCloseTo(level);
        expect(trend.to).toBeCloseTo(level + slope * 14.5);
        expect(trend.low).toBeCloseTo(slope);
        expect(trend.high).toBeCloseTo(slope);
      }),
    );
  });

  it('is hardly moved by a quarter of the points, whatever they are', () => {
    const points = line(10, 500).map((point, index) => (index % 4 === 0 ? { ...point, value: 1e6 } : point));
    const trend = trendOf(points);
    expect(trend.slope).toBeGreaterThan(5);
    expect(trend.slope).toBeLessThan(15);
  });

  it('has the slope between its bounds, which noise widens', () => {
    const noise = fc.array(fc.integer({ min: -100, max: 100 }), { minLength: 20, maxLength: 60 });
    fc.assert(
      fc.property(noise, (values) => {
        const { slope, low, high } = trendOf(values.map((value, at) => ({ at, value })));
        expect(low).toBeLessThanOrEqual(slope);
        expect(high).toBeGreaterThanOrEqual(slope);
      }),
    );
  });

  it('of a saw without growth is sure of none', () => {
    const { low, high } = trendOf(line(0, 0, 60).map(({ at }, index) => ({ at, value: (index % 7) * 100 })));
    expect(low).toBeLessThanOrEqual(0);
    expect(high).toBeGreaterThanOrEqual(0);
  });
});
