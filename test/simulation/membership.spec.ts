import { story } from './report.js';
import { WorkerPool } from './worker-pool.js';

describe('participants in a simulated cluster', () => {
  let pool: WorkerPool;
  beforeAll(() => void (pool = new WorkerPool(1, [])));
  afterAll(() => pool.close());

  it.each([
    ['brief', 30],
    ['short', 12],
    ['long', 1],
  ] as const)(
    'are never judged while they count on their lease, and all know each other when the faults end: %s',
    async (length, count) => {
      const options = { length, hasMembers: true };
      const { failures, schedules } = await pool.survey(1, count, options);
      if (failures[0]) throw new Error(await story(failures[0], options));
      expect(schedules).toBe(count);
    },
  );
});
