import type { PlannedTimes } from '../../../../lib/core/permits/missed/last-tick.js';

/** Planned times at whole multiples of a period. */
export function every(period: number): PlannedTimes {
  return {
    next: (after) => (Math.floor(after / period) + 1) * period,
    latest: (_from, until) => Math.floor(until / period) * period,
  };
}
