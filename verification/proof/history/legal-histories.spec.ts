import fc from 'fast-check';
import { type CheckOptions, checkHistory } from './check-history.js';
import type { HistoryEntry } from './history.js';
import { DURATION, TOLERANCE, legalSteps, legalHistory } from './legal-history.js';
import { MUTATIONS } from './mutations.js';

const OPTIONS: CheckOptions = {
  slack: 15,
  takeovers: { job: { duration: DURATION, tolerance: TOLERANCE, bound: 400 } },
};

const check = (entries: readonly HistoryEntry[]) => checkHistory(entries, OPTIONS);

describe('histories of a service that keeps every promise', () => {
  it('are found to be in order', () => {
    fc.assert(
      fc.property(legalSteps, (steps) => {
        expect(check(legalHistory(steps)).violations).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('show all kinds of events', () => {
    const seen = new Set(fc.sample(legalSteps, 100).flatMap((steps) => legalHistory(steps).map(({ event }) => event)));
    expect([...seen].toSorted()).toEqual(
      'denied ended frozen granted invoked killed limited refreshed released thawed woken written'.split(' '),
    );
  });

  it('are found to be in order whatever the order of their lines', () => {
    fc.assert(
      fc.property(legalSteps, (steps) => {
        const byProcess = legalHistory(steps).toSorted((one, other) => (one.process < other.process ? -1 : 1));
        expect(check(byProcess).violations).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });
});

describe('one change to such a history', () => {
  it.each(Object.entries(MUTATIONS))('%s', (_, { rules, variants }) => {
    let changed = 0;
    fc.assert(
      fc.property(legalSteps, fc.nat(), (steps, choice) => {
        const entries = legalHistory(steps).toSorted((one, other) => one.at - other.at);
        const all = variants(entries);
        if (all.length === 0) return;
        changed++;
        const { violations } = check(all[choice % all.length]!());
        expect(violations.map(({ rule }) => rule)).toEqual(expect.arrayContaining([expect.stringMatching(rules)]));
      }),
      { numRuns: 300 },
    );
    expect(changed).toBeGreaterThan(10);
  });
});
