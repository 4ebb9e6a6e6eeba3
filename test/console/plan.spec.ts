import { CronTime } from 'cron';
import { AHEAD, plannedJobs } from '../../lib/console/web/runs/plan.js';
import type { SemaphoreOverview } from '../../lib/gatekeeper/index.js';

const HOUR = 3_600_000;
/** A Saturday. On a day on which clocks go back, the page may draw a time of the repeated hour twice. */
const NOW = Date.UTC(2026, 9, 17, 12, 30, 20);

type TaskSchedule = Parameters<typeof plannedJobs>[1][number];
type Schedule = NonNullable<SemaphoreOverview['jobs'][number]['schedule']>;

function overview(name: string, ...schedules: Schedule[]): SemaphoreOverview {
  const jobs = schedules.map((schedule, index) => ({ job: `${name}.${index}`, schedule, nodes: 1 }));
  return { name, jobs, holders: [], warnings: [] } as unknown as SemaphoreOverview;
}

/** As a node publishes it. */
function cron(expression: string, timeZone: string, at = NOW): Schedule {
  const time = new CronTime(expression, timeZone);
  const next = time.getNextDateFrom(new Date(at), timeZone);
  const interval = time.getNextDateFrom(next, timeZone).toMillis() - next.toMillis();
  return { kind: 'cron', expression, timeZone, next: next.toMillis(), interval };
}

function taskSchedule(name: string, { expression, timeZone, next }: Schedule): TaskSchedule {
  const type = `cron.${name}`;
  return { name, type, expression, timeZone, next, isHere: true, skipped: [], waiting: 0 } as unknown as TaskSchedule;
}

function timesOf(schedule: Schedule, now = NOW): readonly number[] | undefined {
  return plannedJobs([overview('job', schedule)], [], now)[0]?.times;
}

describe('the plan of the next 24 hours', () => {
  it.each([
    '0 3 * * *',
    '0 0 */2 * * *',
    '30 8-18 * * 1-5',
    '0 22 * * SAT,SUN',
    '15,45 1 * * *',
    '0 0 18 * 1',
    '@daily',
    '*/20 9 * * *',
  ])('has the times at which the scheduler would run %s', (expression) => {
    for (const timeZone of ['Europe/Berlin', 'UTC', 'America/New_York', 'Asia/Kolkata']) {
      const time = new CronTime(expression, timeZone);
      const due: number[] = [];
      for (let at = time.getNextDateFrom(new Date(NOW), timeZone); at.toMillis() <= NOW + AHEAD;) {
        due.push(at.toMillis());
        at = time.getNextDateFrom(at, timeZone);
      }
      expect({ timeZone, times: timesOf(cron(expression, timeZone)) ?? [] }).toEqual({ timeZone, times: due });
    }
  });

  it('lists the soonest first, leaves out what is not due, and draws what is due often as one bar', () => {
    const planned = plannedJobs(
      [
        overview('daily', cron('0 3 * * *', 'UTC')),
        overview('often', cron('*/5 * * * *', 'UTC')),
        overview('monthly', cron('0 0 1 * *', 'UTC')),
        overview('interval', { kind: 'interval', expression: '7200000', next: NOW + 60_000, interval: 2 * HOUR }),
        overview('once', { kind: 'timeout', expression: '1000', next: NOW + HOUR }),
        overview('lock'),
      ],
      [],
      NOW,
    );
    expect(planned.map(({ name, times }) => [name, times.length])).toEqual([
      ['interval', 12],
      ['often', 0],
      ['once', 1],
      ['daily', 1],
    ]);
  });

  it('has the schedules of tasks, and the limit that keeps their tasks from running', () => {
    const limit = overview('task:cron.nightly');
    const { interval: _interval, ...nightly } = cron('0 3 * * *', 'Europe/Berlin');
    const { interval: _other, ...often } = cron('*/10 * * * *', 'UTC');
    const planned = plannedJobs(
      [limit],
      [
        taskSchedule('nightly', nightly),
        taskSchedule('often', often),
        taskSchedule('unread', { kind: 'cron', expression: '* * * * *' }),
      ],
      NOW,
    );
    expect(planned.map(({ name, semaphore, next, times }) => [name, semaphore, next, times.length])).toEqual([
      ['often', undefined, Date.UTC(2026, 9, 17, 12, 40), 0],
      ['nightly', limit, Date.UTC(2026, 9, 18, 1), 1],
    ]);
  });

  it('goes on from what a node published before its last runs', () => {
    const old = cron('0 * * * *', 'UTC', NOW - 3 * HOUR);
    expect(timesOf(old)?.[0]).toBe(Date.UTC(2026, 9, 17, 13));
    expect(timesOf({ kind: 'timeout', expression: '1000', next: NOW - 1 })).toBeUndefined();
  });

  it('has the published time of an expression that it can not read', () => {
    const schedule = {
      kind: 'cron',
      expression: 'by hand',
      timeZone: 'UTC',
      next: NOW + HOUR,
      interval: HOUR,
    } as const;
    expect(timesOf(schedule)).toEqual([NOW + HOUR]);
  });
});
