import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { AllocationScheduleResult } from '../../test/simulation/allocation/schedule.js';
import { storyOf } from '../../test/simulation/kind/kind-cli.js';
import { type KindName, kindNamed } from '../../test/simulation/kind/schedule-kind.js';
import { story } from '../../test/simulation/report.js';
import type { ScheduleOptions } from '../../test/simulation/schedule.js';
import type { TasksScheduleResult } from '../../test/simulation/tasks/tasks-schedule.js';
import { WorkerPool } from '../../test/simulation/worker-pool.js';

const SCHEDULES = 3000;
/** Schedules of allocation and tasks take 70 to 200 ms of processor each, the others 20; some machines are three times slower. */
const LONG_SCHEDULES = 1200;
/** ms: no promise is about how fast the schedules run. */
const LONGEST = 900_000;

/** Seeds that no one has run: a failure names its own, with which it happens again. */
const FIRST = randomInt(2 ** 30);

describe(`schedules from seed ${FIRST} on`, () => {
  let pool: WorkerPool;
  beforeAll(() => void (pool = new WorkerPool(availableParallelism(), [])));
  afterAll(() => pool.close());

  it.each<[string, ScheduleOptions]>([
    ['permits', {}],
    ['members with short leases', { hasMembers: true }],
    ['leaders', { hasMembers: true, hasLeaders: true }],
  ])(
    'keep every promise: %s',
    async (_, options) => {
      const { failures, schedules } = await pool.survey(FIRST, SCHEDULES, options);
      if (failures[0]) throw new Error(await story(failures[0], options));
      expect(schedules).toBe(SCHEDULES);
    },
    LONGEST,
  );

  it.each<KindName>(['allocation', 'tasks'])(
    'keep every promise: %s',
    async (kind) => {
      const range = { kind, first: FIRST, count: LONG_SCHEDULES, options: {} } as const;
      const results = (await pool.spread<(AllocationScheduleResult | TasksScheduleResult)[]>(range)).flat();
      const failure = results.find(({ violations }) => violations.length > 0);
      if (failure) throw new Error(await storyOf(kindNamed(kind), failure));
      expect(results).toHaveLength(LONG_SCHEDULES);
    },
    LONGEST,
  );
});
