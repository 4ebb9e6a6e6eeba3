import { Injectable } from '@nestjs/common';
import { Cron, ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import type { CronJob } from '../../lib/nest/scheduler.js';
import { CronTimes } from '../../lib/nest/cron-times.js';
import { Ticks } from '../../lib/core/cron/ticks.js';
import { useApps } from '../support/apps.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const IN_A_YEAR = new Date(Date.now() + 365 * DAY);

@Injectable()
class Jobs {
  @Cron('0 3 * * *', { name: 'daily', timeZone: 'UTC' })
  daily() {}

  @Cron('0 0-12 * * *', { name: 'in the morning', timeZone: 'UTC' })
  inTheMorning() {}

  @Cron('30 * * * * *', { name: 'each minute', timeZone: 'UTC' })
  eachMinute() {}

  @Cron('0 3 1,2 * *', { name: 'on two days', timeZone: 'UTC' })
  onTwoDays() {}

  @Cron('* * * * * *', { name: 'each second', timeZone: 'UTC' })
  eachSecond() {}

  @Cron(IN_A_YEAR, { name: 'once' })
  once() {}
}

@Injectable()
class InZones {
  @Cron('30 4 * * *', { name: 'of the process' })
  local() {}

  @Cron('30 4 * * *', { name: 'named', timeZone: 'America/New_York' })
  named() {}

  @Cron('30 4 * * *', { name: 'by luxon', timeZone: 'UTC-3:30' })
  byLuxon() {}

  @Cron('30 4 * * *', { name: 'system', timeZone: 'system' })
  system() {}

  @Cron('30 4 * * *', { name: 'offset', utcOffset: 330 })
  offset() {}
}

type ScheduledJob = ReturnType<SchedulerRegistry['getCronJob']>;

describe('the times of a cron job', () => {
  const { boot } = useApps();
  const jobs = async () => {
    const app = await boot({ imports: [ScheduleModule.forRoot()], providers: [Jobs, InZones] });
    const registry = app.get(SchedulerRegistry);
    // Its fields are private.
    return { getCronJob: (name: string) => registry.getCronJob(name) as unknown as CronJob & ScheduledJob };
  };

  it('are the next one, the interval after it, and the last ones, also from before the first look', async () => {
    const job = (await jobs()).getCronJob('daily');
    const times = new CronTimes();
    const { next, interval, recent } = times.look(job, Date.now());
    const before = [next! - 3 * DAY, next! - 2 * DAY, next! - DAY];
    expect([interval, recent]).toEqual([DAY, before]);
    expect(times.look(job, next!)).toEqual({ next: next! + DAY, interval: DAY, recent: [...before.slice(1), next] });
    expect(times.look(job, next! + 4 * DAY + 1)).toEqual({
      next: next! + 5 * DAY,
      interval: DAY,
      recent: [next! + 2 * DAY, next! + 3 * DAY, next! + 4 * DAY],
    });
  });

  it('keep to the cron where it pauses: the last ones are not where the distance of two dates would have them', async () => {
    const job = (await jobs()).getCronJob('in the morning');
    const times = new CronTimes();
    const { next } = times.look(job, Date.now());
    const midnight = Math.ceil((next! + 1) / DAY) * DAY;
    // At eleven at night, of a day that begins at that midnight.
    const { recent } = times.look(job, midnight + 23 * HOUR);
    expect(recent!.map((at) => (at - midnight) / HOUR)).toEqual([10, 11, 12]);
  });

  it('are counted back from the next one after a long time without a look', async () => {
    const job = (await jobs()).getCronJob('each minute');
    const times = new CronTimes();
    times.look(job, Date.now());
    const { next, recent } = times.look(job, Date.now() + DAY);
    expect(recent).toEqual([next! - 180_000, next! - 120_000, next! - 60_000]);
  });

  it('are found in a schedule with gaps, when it is first seen', async () => {
    const registry = await jobs();
    const [gaps, often] = ['on two days', 'each second'].map((name) => registry.getCronJob(name));
    const { next, recent } = new CronTimes().look(gaps!, Date.now());
    const days = recent!.map((at) => new Date(at).getUTCDate());
    expect(days.every((day) => day === 1 || day === 2)).toBe(true);
    expect([recent!.length, recent!.every((at) => at < next!)]).toEqual([3, true]);
    const ticks = new CronTimes().look(often!, Date.now());
    expect(ticks.recent).toEqual([ticks.next! - 3000, ticks.next! - 2000, ticks.next! - 1000]);
  });

  it('begin anew when the job is given another time', async () => {
    const [daily, minute] = await jobs().then((registry) => [
      registry.getCronJob('daily'),
      registry.getCronJob('each minute'),
    ]);
    const times = new CronTimes();
    const { next } = times.look(daily!, Date.now());
    const ticks = [next! - 2 * DAY, next! - DAY, next];
    expect(times.look(daily!, next!)).toMatchObject({ interval: DAY, recent: ticks });
    daily!.setTime(minute!.cronTime);
    expect(times.look(daily!, Date.now())).toMatchObject({ interval: 60_000, recent: [] });
  });

  it('of one that comes once is that moment, until it is over', async () => {
    const job = (await jobs()).getCronJob('once');
    const times = new CronTimes();
    expect(times.look(job, Date.now())).toEqual({ next: IN_A_YEAR.getTime() });
    expect(times.look(job, IN_A_YEAR.getTime())).toEqual({});
  });

  it.each(['of the process', 'named', 'by luxon', 'system', 'offset'])(
    'are those at which the scheduler runs it, in a zone: %s',
    async (name) => {
      const job = (await jobs()).getCronJob(name);
      expect(new CronTimes().look(job, Date.now()).next).toBe(job.nextDate().toMillis());
    },
  );

  it('are not searched again before the next one has passed', async () => {
    const job = (await jobs()).getCronJob('daily');
    const times = new CronTimes();
    const first = times.look(job, Date.now());
    const search = jest.spyOn(Ticks.prototype, 'next');
    try {
      expect(times.look(job, first.next! - 1)).toEqual(first);
      expect(search).not.toHaveBeenCalled();
      times.look(job, first.next!);
      expect(search).toHaveBeenCalled();
    } finally {
      search.mockRestore();
    }
  });

  it('are known of a job of cron 3, which is `running` where a later one `isActive`', async () => {
    const { cronTime } = (await jobs()).getCronJob('daily');
    const job: CronJob = { running: true, cronTime };
    expect(new CronTimes().look(job, Date.now())).toMatchObject({ next: expect.any(Number), interval: DAY });
    expect(new CronTimes().look({ ...job, running: false }, Date.now())).toEqual({});
  });
});
