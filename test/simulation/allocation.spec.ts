import { type AllocationScheduleResult, simulateAllocation } from './allocation/schedule.js';
import { storyOf } from './kind/kind-cli.js';
import { kindNamed } from './kind/schedule-kind.js';
import { WorkerPool } from './worker-pool.js';

/** `npm run sim -- --allocation` carries out as many as you like. */
const SCHEDULES = 10;

describe('nodes that divide resources in a simulated cluster', () => {
  /** One thread without Jest in it: there a schedule takes half the time. */
  let pool: WorkerPool;
  beforeAll(() => void (pool = new WorkerPool(1, [])));
  afterAll(() => pool.close());

  it('never own a resource twice, and share evenly soon after the trouble', async () => {
    const range = { kind: 'allocation', first: 1, count: SCHEDULES, options: {} } as const;
    const results = (await pool.spread<AllocationScheduleResult[]>(range)).flat();
    const failure = results.find(({ violations }) => violations.length > 0);
    if (failure) throw new Error(await storyOf(kindNamed('allocation'), failure));
    expect(results.reduce((sum, { changes }) => sum + changes, 0)).toBeGreaterThan(20 * SCHEDULES);
  });

  it.each([
    ['whose lease was stamped by a clock that was set back', 281],
    ['that renewed its lease on the smaller side of a split only', 4585],
    ['whose work goes on, although its handover has just begun', 20210],
  ])('do not share a resource with a node %s', async (_, seed) => {
    expect((await simulateAllocation(seed)).violations).toEqual([]);
  });

  it.each([
    ['was dropped before the leader judged its lease', 1017326],
    ['was dropped before the deciding node started', 644052796],
  ])('soon divide the resources of a node whose entry %s', async (_, seed) => {
    expect((await simulateAllocation(seed)).violations).toEqual([]);
  });

  it('go exactly the same way again with the same seed', async () => {
    const once = await simulateAllocation(3, { isTraced: true });
    expect(once.trace.length).toBeGreaterThan(100);
    expect(await simulateAllocation(3, { isTraced: true })).toEqual(once);
  });
});
