import { runs } from '../support/runs.js';
import { type Outcome, isInTime, simulate } from './simulation/schedule.js';

const SEEDS = runs(20);

async function outcomesOf(simulated: (seed: number) => Promise<Outcome>): Promise<readonly Outcome[]> {
  const all: Outcome[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) all.push(await simulated(seed));
  return all;
}

const saying = (outcomes: readonly Outcome[], word: string) =>
  outcomes.filter(({ violations }) => violations.some((violation) => violation.includes(word)));

describe(`the allocation protocol in ${SEEDS} schedules with faults`, () => {
  const outcomes = outcomesOf((seed) => simulate(seed));

  it('never has two owners of one resource', async () => {
    expect(saying(await outcomes, 'two owners')).toEqual([]);
  });

  it('has growing tokens, unless clocks were wrong and data were lost', async () => {
    const all = (await outcomes).filter(({ faults }) => !faults.includes('clock') || !faults.includes('lostData'));
    expect(saying(all, 'token')).toEqual([]);
  });

  it('is even, with one owner of each resource, soon after the trouble', async () => {
    expect((await outcomes).filter((outcome) => !isInTime(outcome))).toEqual([]);
  });
});
