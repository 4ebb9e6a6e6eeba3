import { type StalePart, isCurrent, partName, stalePart, staleOf } from '../../../lib/core/context/stale.js';

const records: StalePart = { part: 'records', since: 1000, sentence: 'away' };
const runs: StalePart = { part: 'runs', sentence: 'refused' };

describe('what an answer says of its age', () => {
  it('is no field at all while all of its parts are current', () => {
    expect(staleOf()).toStrictEqual({});
    expect(staleOf({}, { stale: undefined! }, { stale: [] })).toStrictEqual({});
    expect(stalePart({}, 'records')).toBeUndefined();
    expect([isCurrent({}), isCurrent({ stale: [] }), isCurrent({ stale: [runs] })]).toEqual([true, true, false]);
  });

  it('names the parts of all answers that it is made of, in their order', () => {
    expect(staleOf({ stale: [runs] }, {}, { stale: [records] })).toStrictEqual({ stale: [runs, records] });
  });

  it('names a part once, with what the last answer says of it', () => {
    const older: StalePart = { part: 'runs', since: 500, sentence: 'away' };
    expect(staleOf({ stale: [runs, records] }, { stale: [older] })).toStrictEqual({ stale: [older, records] });
  });

  it('has words for each part, also for one of a newer version', () => {
    expect([partName(records), partName({ part: 'audit' })]).toEqual(['semaphores', 'changes']);
    expect(['tomorrow', 'constructor'].map((part) => partName({ part: part as 'runs' }))).toEqual([
      'tomorrow',
      'constructor',
    ]);
  });

  it('is asked for by the part', () => {
    expect(stalePart({ stale: [records, runs] }, 'runs')).toBe(runs);
    expect(stalePart({ stale: [records, runs] }, 'audit')).toBeUndefined();
  });
});
