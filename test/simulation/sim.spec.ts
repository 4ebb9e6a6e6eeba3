import { WorkerPool } from './worker-pool.js';
import { story } from './report.js';
import { type ScheduleOptions, simulate } from './schedule.js';
import { DEPLOYS, FAULT_MIXES, HOLES, KEPT, type FaultMixName } from './kind/fault-mix.js';
import { TWO_SIDES } from './world/checker.js';

/** Those without leaders: leadership.spec.ts has the others. */
const MIXES = (Object.keys(KEPT) as FaultMixName[]).filter((name) => !FAULT_MIXES[name].leadership);

/**
 * Some of each: all specs of the simulation together have 20 s of processor in `npm test`. The stage `proof` of
 * `npm run verify` carries out thousands, and `npm run sim` as many as you like.
 */
const BRIEF = 20;
const SHORT = 8;
const LONG = 1;
const DEPLOYED = 8;
const SHORT_WITH_HOLES = 20;
/** Seeds of which some count wrong: about one in 40 does. */
const WITHOUT_QUORUM = { first: 100, count: 30 };

describe('several nodes in a simulated cluster', () => {
  /** One thread without Jest in it: there a schedule takes half the time. */
  let pool: WorkerPool;
  beforeAll(() => void (pool = new WorkerPool(1, [])));
  afterAll(() => pool.close());

  const expectKept = async (count: number, options: ScheduleOptions, grantsEach = 2) => {
    const { failures, grants } = await pool.survey(1, count, options);
    if (failures[0]) throw new Error(await story(failures[0], options));
    expect(grants).toBeGreaterThan(grantsEach * count);
  };

  it.each(MIXES)('keep every promise with faults: %s', async (faultMix) => {
    await expectKept(BRIEF, { faultMix, length: 'brief' }, 1);
    await expectKept(SHORT, { faultMix, length: 'short' });
    await expectKept(LONG, { faultMix, length: 'long' });
  });

  it.each(Object.keys(DEPLOYS) as FaultMixName[])(
    'keep every promise while deploys change the code, and end with the code of a living node: %s',
    async (faultMix) => {
      await expectKept(DEPLOYED, { faultMix, length: 'brief' }, 1);
      await expectKept(DEPLOYED / 2, { faultMix, length: 'short' }, 1);
    },
  );

  it.each(Object.keys(HOLES).filter((name) => name !== 'split-without-quorum') as FaultMixName[])(
    'break a promise in few schedules with faults: %s',
    async (faultMix) => {
      const { failures } = await pool.survey(1, SHORT_WITH_HOLES, { faultMix, length: 'short' });
      expect(failures.length).toBeLessThanOrEqual(SHORT_WITH_HOLES / 5);
    },
  );

  it('count wrong while the store is in two sides without a quorum, and right again after', async () => {
    const { first, count } = WITHOUT_QUORUM;
    const { failures } = await pool.survey(first, count, { faultMix: 'split-without-quorum', length: 'short' });
    expect(failures.length).toBeGreaterThan(0);
    expect(failures.flatMap(({ violations }) => violations).filter((each) => !each.includes(TWO_SIDES))).toEqual([]);
  });

  it.each([7, 500])('go exactly the same way again with the same seed (%i)', async (seed) => {
    const once = await simulate(seed, { isTraced: true });
    expect(once.trace.length).toBeGreaterThan(30);
    expect(await simulate(seed, { isTraced: true })).toEqual(once);
  });
});
