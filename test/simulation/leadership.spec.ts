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
});
