import { Allowance } from '../../lib/console/access/allowance.js';

/**
 * Stops time for limits only: they fill again with time, and a machine that is busy would get more through. All else
 * needs its clock, such as work that is cut into slices. `jest.restoreAllMocks()` lets time go on, as the result does.
 */
export function stopAllowances(): () => void {
  const now = performance.now();
  const { take, owe } = Allowance.prototype;
  const atThatTime = <T>(work: () => T): T => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(now);
    try {
      return work();
    } finally {
      clock.mockRestore();
    }
  };
  const spies = [
    jest.spyOn(Allowance.prototype, 'take').mockImplementation(function (this: Allowance, ...args) {
      return atThatTime(() => take.apply(this, args));
    }),
    jest.spyOn(Allowance.prototype, 'owe').mockImplementation(function (this: Allowance, ...args) {
      atThatTime(() => owe.apply(this, args));
    }),
  ];
  return () => spies.forEach((spy) => spy.mockRestore());
}
