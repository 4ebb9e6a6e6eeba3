import { story } from './report.js';
import { WorkerPool } from './worker-pool.js';

describe('candidates in a simulated cluster', () => {
  let pool: WorkerPool;
  beforeAll(() => void (pool = new WorkerPool(1, [])));
  afterAll(() => pool.close());

  it.each([
    ['brief', 40],
    ['short', 8],
    ['long', 1],
  ] as const)(
    'never lead at the same time, under all faults of leadership, and one leads when they end: %s',
    async (length, count) => {
      const options = { length, hasLeaders: true, hasMembers: true };
      const { failures, terms } = await pool.survey(1, count, options);
      if (failures[0]) throw new Error(await story(failures[0], options));
      expect(terms).toBeGreaterThan(count / 2);
    },
  );

  it.each([
    ['in a grace after a failover', 564788628, true],
    ['in a grace after lost data', 564788640, false],
  ])('wait no longer for a transfer than it stands, %s', async (_, seed, hasLeaders) => {
    const { failures } = await pool.survey(seed, 1, { hasLeaders, hasMembers: true });
    expect(failures.flatMap(({ violations }) => violations)).toEqual([]);
  });
});
