import { storyOf } from './kind/kind-cli.js';
import { kindNamed } from './kind/schedule-kind.js';
import { type TasksScheduleResult, simulateTasks } from './tasks/tasks-schedule.js';
import { WorkerPool } from './worker-pool.js';

/** `npm run sim -- --tasks` carries out as many as you like. */
const SCHEDULES = 8;

describe('nodes that work on tasks in a simulated cluster', () => {
  /** One thread without Jest in it. */
  let pool: WorkerPool;
  beforeAll(() => void (pool = new WorkerPool(1, [])));
  afterAll(() => pool.close());

  it('end every task, run the handler of every group once, and forget all of it', async () => {
    const range = { kind: 'tasks', first: 1, count: SCHEDULES, options: {} } as const;
    const results = (await pool.spread<TasksScheduleResult[]>(range)).flat();
    const failure = results.find(({ violations }) => violations.length > 0);
    if (failure) throw new Error(await storyOf(kindNamed('tasks'), failure));
    expect(results.reduce((sum, { ends }) => sum + ends, 0)).toBeGreaterThan(5 * SCHEDULES);
    expect(results.reduce((sum, { joins }) => sum + joins, 0)).toBeGreaterThan(SCHEDULES / 2);
  });

  it('open no incarnation of a group for a member that is remembered', async () => {
    expect((await simulateTasks(171)).violations).toEqual([]);
  });

  it('move the tasks of a process that ended before any list had it, when a clock is set ahead', async () => {
    expect((await simulateTasks(950015407)).violations).toEqual([]);
  });

  it('go exactly the same way again with the same seed', async () => {
    const once = await simulateTasks(3, { isTraced: true });
    expect(once.trace.length).toBeGreaterThan(100);
    expect(await simulateTasks(3, { isTraced: true })).toEqual(once);
  });
});
