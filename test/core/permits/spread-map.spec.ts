import fc from 'fast-check';
import { SpreadMap } from '../../../lib/core/permits/spread-map.js';

const names = fc.constantFrom(
  'a',
  'b',
  'ü',
  '__proto__',
  'constructor',
  ...Array.from({ length: 40 }, (_, at) => `n${at}`),
);

describe('a map of names that come and go', () => {
  it('answers as a map does', () => {
    const steps = fc.array(fc.tuple(fc.constantFrom('set', 'delete'), names, fc.integer()), { maxLength: 200 });
    fc.assert(
      fc.property(steps, (taken) => {
        const [map, spread] = [new Map<string, number>(), new SpreadMap<number>()];
        for (const [what, name, value] of taken) {
          if (what === 'set') {
            map.set(name, value);
            spread.set(name, value);
          } else {
            map.delete(name);
            spread.delete(name);
          }
          expect([spread.size, spread.get(name)]).toEqual([map.size, map.get(name)]);
        }
        expect([...spread].toSorted()).toEqual([...map].toSorted());
        expect([...spread.values()].toSorted()).toEqual([...map.values()].toSorted());
      }),
    );
  });
});
