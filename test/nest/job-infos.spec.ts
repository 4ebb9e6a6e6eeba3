import { Injectable, Scope } from '@nestjs/common';
import { Cron, CronExpression, Interval, ScheduleModule, SchedulerRegistry, Timeout } from '@nestjs/schedule';
import { ClusterSingleton, type JobInfo } from 'nestjs-gatekeeper';
import { z } from 'zod';
import { jobInfoSchema } from '../../lib/operate/activity/node-info.js';
import { type App, until, useApps } from '../support/apps.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NEVER_SOON = 2_000_000_000;

@Injectable()
class Jobs {
  @ClusterSingleton('named', '10s')
  @Cron('0 3 * * *', { name: 'export', timeZone: 'Asia/Tokyo' })
  async named() {}

  @Cron('0 3 * * *', { timeZone: 'UTC' })
  @ClusterSingleton('unnamed', '10s')
  async unnamed() {}

  @ClusterSingleton('interval', '10s', { atLeastFor: 0 })
  @Interval(20)
  async interval() {}

  @ClusterSingleton('timeout', '10s')
  @Timeout('once', NEVER_SOON)
  async timeout() {}

  @ClusterSingleton((tenant: string) => `import-${tenant}`, '10s')
  async imports(_tenant: string) {}

  @ClusterSingleton('by-hand', '10s')
  async byHand() {}

  @Cron(CronExpression.EVERY_DAY_AT_1AM, { name: 'off', disabled: true })
  @ClusterSingleton('off', '10s')
  async off() {}

  @Cron('* * * * * *')
  async notGuarded() {}
}

@Injectable()
class OtherZones {
  @Cron('0 3 * * *', { utcOffset: 120 })
  @ClusterSingleton('offset', '10s')
  async offset() {}

  @Cron(new Date(Date.now() + NEVER_SOON), { name: 'date' })
  @ClusterSingleton('date', '10s')
  async date() {}
}

@Injectable()
class Soon {
  hasRun = false;

  @ClusterSingleton('soon', '10s')
  @Timeout(20)
  async once() {
    this.hasRun = true;
  }
}

@Injectable({ scope: Scope.REQUEST })
class PerRequest {
  @Cron('0 3 * * *')
  @ClusterSingleton('per-request', '10s')
  async export() {}
}

function cardOf({ gatekeeper }: App, job: string): JobInfo | undefined {
  return gatekeeper.registry.jobs().find((card) => card.job === job);
}

describe('what a node tells of its jobs', () => {
  const { boot } = useApps();
  const scheduled = () => boot({ imports: [ScheduleModule.forRoot()], providers: [Jobs, PerRequest] });

  it('has no time zone of a job that has an offset, or that is due once', async () => {
    const app = await boot({ imports: [ScheduleModule.forRoot()], providers: [OtherZones] });
    const schedules = ['OtherZones.offset', 'OtherZones.date'].map((job) => cardOf(app, job)!.schedule);
    for (const schedule of schedules) expect(Object.keys(schedule!)).not.toContain('timeZone');
    expect(schedules[0]).toMatchObject({ kind: 'cron', next: expect.any(Number) });
  });

  it('is each guarded method with its semaphore, unless a function names it', async () => {
    const { gatekeeper } = await scheduled();
    expect(gatekeeper.registry.jobs().map(({ job, semaphore }) => [job, semaphore])).toEqual([
      ['Jobs.named', 'named'],
      ['Jobs.unnamed', 'unnamed'],
      ['Jobs.interval', 'interval'],
      ['Jobs.timeout', 'timeout'],
      ['Jobs.imports', undefined],
      ['Jobs.byHand', 'by-hand'],
      ['Jobs.off', 'off'],
      ['PerRequest.export', 'per-request'],
    ]);
  });

  it.each([
    ['Jobs.named', 18], // 3 o'clock in Tokyo
    ['Jobs.unnamed', 3],
  ])('has the next time of the cron of %s, in its time zone, and the distance of the two next', async (job, hour) => {
    const { schedule } = cardOf(await scheduled(), job)!;
    expect(schedule).toMatchObject({ kind: 'cron', expression: '0 3 * * *', interval: DAY });
    expect(schedule!.recent).toHaveLength(3);
    expect(new Date(schedule!.next!).getUTCHours()).toBe(hour);
    expect(schedule!.next! - Date.now()).toBeGreaterThan(0);
    expect(schedule!.next! - Date.now()).toBeLessThanOrEqual(DAY);
  });

  it('has the times of both of two methods with one name', async () => {
    const classes = [1, 2].map((hour) => {
      @Injectable()
      class Cleanup {
        @ClusterSingleton(`at ${hour}`, '10s')
        @Cron(`0 ${hour} * * *`, { timeZone: 'UTC' })
        async run() {}
      }
      return Cleanup;
    });
    const { gatekeeper } = await boot({ imports: [ScheduleModule.forRoot()], providers: classes });
    for (let looks = 0; looks < 2; looks++) {
      const jobs = gatekeeper.registry.jobs();
      const recent = jobs.map(({ schedule }) => schedule!.recent!.map((at) => new Date(at).getUTCHours()));
      expect(recent).toEqual([
        [1, 1, 1],
        [2, 2, 2],
      ]);
    }
  });

  it('has the times of an unnamed job, although others have the same expression', async () => {
    const inADay = new Date(Date.now() + DAY);
    @Injectable()
    class Others {
      @Cron('0 3 * * *', { name: 'stopped', timeZone: 'UTC', disabled: true })
      stopped() {}

      @Cron('0 3 * * *', { utcOffset: 120 })
      offset() {}
    }
    @Injectable()
    class Unnamed {
      @ClusterSingleton('runs', '10s')
      @Cron('0 3 * * *', { timeZone: 'UTC' })
      async runs() {}

      @ClusterSingleton('disabled', '10s')
      @Cron('0 3 * * *', { timeZone: 'UTC', disabled: true })
      async disabled() {}

      @ClusterSingleton('offset', '10s')
      @Cron('0 3 * * *', { utcOffset: 60 })
      async offset() {}

      @ClusterSingleton('date', '10s')
      @Cron(inADay)
      async date() {}
    }
    const app = await boot({ imports: [ScheduleModule.forRoot()], providers: [Others, Unnamed] });
    const [runs, disabled, offset, date] = app.gatekeeper.registry.jobs().map(({ schedule }) => schedule!);
    expect([runs, offset].map((schedule) => new Date(schedule!.next!).getUTCHours())).toEqual([3, 2]);
    expect(disabled).not.toHaveProperty('next');
    expect(date).toEqual({ kind: 'cron', expression: inADay.toISOString(), next: inADay.getTime() });
  });

  it('has the next time of an interval, counted from its last call', async () => {
    const app = await scheduled();
    const before = Date.now();
    const first = cardOf(app, 'Jobs.interval')!.schedule!;
    expect(first).toMatchObject({ kind: 'interval', expression: '20', interval: 20 });
    await until(() => cardOf(app, 'Jobs.interval')!.schedule!.next! > first.next!);
    expect(cardOf(app, 'Jobs.interval')!.schedule!.next).toBeGreaterThanOrEqual(before);
  });

  it('has the next time of an interval also while its job is skipped each time', async () => {
    const app = await scheduled();
    await app.gatekeeper.definitions.pause('interval');
    await until(() => app.events.some((event) => event.type === 'run-skipped' && event.reason === 'paused'));
    const { next } = cardOf(app, 'Jobs.interval')!.schedule!;
    await until(() => cardOf(app, 'Jobs.interval')!.schedule!.next! > next!);
  });

  it('has no next time of a timeout that is over', async () => {
    const app = await boot({ imports: [ScheduleModule.forRoot()], providers: [Soon] });
    // Not by the events: it may run before the test listens.
    await until(() => app.get(Soon).hasRun);
    expect(cardOf(app, 'Soon.once')!.schedule).toEqual({ kind: 'timeout', expression: '20' });
  });

  it('has the moment of a timeout', async () => {
    const before = Date.now();
    const app = await scheduled();
    const { schedule } = cardOf(app, 'Jobs.timeout')!;
    expect(schedule).toMatchObject({ kind: 'timeout', expression: String(NEVER_SOON) });
    expect(schedule).not.toHaveProperty('interval');
    expect(schedule!.next).toBeGreaterThanOrEqual(before + NEVER_SOON);
    expect(schedule!.next).toBeLessThanOrEqual(Date.now() + NEVER_SOON);
  });

  it('has no next time of a job that is stopped', async () => {
    const app = await scheduled();
    const jobs = app.get(SchedulerRegistry);
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    const off = { kind: 'cron', expression: CronExpression.EVERY_DAY_AT_1AM, timeZone };
    expect(cardOf(app, 'Jobs.off')!.schedule).toEqual(off);
    await jobs.getCronJob('export').stop();
    const named = { kind: 'cron', expression: '0 3 * * *', timeZone: 'Asia/Tokyo' };
    expect(cardOf(app, 'Jobs.named')!.schedule).toEqual(named);
  });

  it('has no schedule of what the scheduler does not run', async () => {
    const app = await scheduled();
    expect(cardOf(app, 'PerRequest.export')).not.toHaveProperty('schedule');
    expect(cardOf(app, 'Jobs.byHand')).not.toHaveProperty('schedule');
    const without = await boot({ providers: [Jobs] });
    expect(without.gatekeeper.registry.jobs().filter(({ schedule }) => schedule)).toEqual([]);
    const off = ScheduleModule.forRoot({ cronJobs: false, intervals: false, timeouts: false });
    const switchedOff = await boot({ imports: [off], providers: [Jobs] });
    expect(switchedOff.gatekeeper.registry.jobs().filter(({ schedule }) => schedule)).toEqual([]);
  });

  it.each([NaN, Infinity, 1e300, -5, undefined])('is readable by other nodes with a time of %p ms', async (ms) => {
    @Injectable()
    class Odd {
      @ClusterSingleton('interval', '10s')
      @Interval(ms as number)
      async interval() {}

      @ClusterSingleton('timeout', '10s')
      @Timeout(ms as number)
      async timeout() {}
    }
    const app = await boot({ imports: [ScheduleModule.forRoot()], providers: [Odd] });
    const cards = ['Odd.interval', 'Odd.timeout'].map((job) => cardOf(app, job));
    expect(cards.map((card) => card!.schedule!.expression)).toEqual([String(ms), String(ms)]);
    expect(z.array(jobInfoSchema).parse(JSON.parse(JSON.stringify(cards)))).toEqual(cards);
  });

  it('is on the card that the other nodes read', async () => {
    const providers = [Jobs];
    const { gatekeeper } = await boot({ imports: [ScheduleModule.forRoot()], providers }, { heartbeat: 10 });
    await until(async () => {
      const { semaphores } = await gatekeeper.overview();
      return semaphores.some(({ name, next }) => name === 'named' && next !== undefined);
    });
    const { semaphores, nodes } = await gatekeeper.overview();
    expect(semaphores.find(({ name }) => name === 'unnamed')).toMatchObject({
      jobs: [{ job: 'Jobs.unnamed', nodes: 1, schedule: { kind: 'cron', interval: DAY } }],
    });
    expect(nodes).toMatchObject([{ acquirer: 'app1', pid: process.pid }]);
  });
});
