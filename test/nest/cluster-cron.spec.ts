import { Inject, Injectable, type OnModuleInit, Scope } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import {
  ClusterCron,
  ClusterSingleton,
  LeaderOnly,
  type ScheduleContext,
  TaskHandler,
  TasksService,
  memory,
} from 'nestjs-gatekeeper';
import { bootError, until, useApps } from '../support/apps.js';
import { refusedNaming } from '../support/refused.js';

const { boot } = useApps();

@Injectable()
class Exports {
  readonly ticks: ScheduleContext[] = [];

  @ClusterCron('* * * * * *', { name: 'export', lease: '5s' })
  run(tick: ScheduleContext) {
    this.ticks.push(tick);
  }
}

describe('@ClusterCron', () => {
  it('runs a method once per planned time on all nodes together, with the planned time', async () => {
    const store = memory();
    const apps = [await boot({ providers: [Exports] }, {}, store), await boot({ providers: [Exports] }, {}, store)];
    const ticks = () => apps.flatMap((app) => app.get(Exports).ticks);
    await until(() => ticks().length >= 3);
    const planned = ticks().map(({ plannedAt }) => plannedAt.getTime());
    expect(new Set(planned).size).toBe(planned.length);
    for (const time of planned) expect(time % 1000).toBe(0);
    expect(ticks()[0]).toMatchObject({ type: 'cron.export', schedule: 'export' });
  });

  it('runs under the name of its class and method if it has none', async () => {
    class Jobs {
      @ClusterCron('0 3 * * *', { timeZone: 'Europe/Berlin', mode: 'queue', missed: 'all' })
      nightly() {}
    }
    const app = await boot({ providers: [Jobs] });
    const [schedule] = await app.get(TasksService).schedules();
    expect(schedule).toMatchObject({
      name: 'Jobs.nightly',
      type: 'cron.Jobs.nightly',
      mode: 'queue',
      missed: 'all',
      timeZone: 'Europe/Berlin',
      isHere: true,
    });
    expect(schedule!.next).toBeGreaterThan(Date.now());
  });

  it('makes an instance per tick of a provider in request scope, whose REQUEST is the context', async () => {
    const seen: unknown[] = [];
    @Injectable({ scope: Scope.REQUEST })
    class Scoped {
      constructor(@Inject(REQUEST) private readonly tick: ScheduleContext) {}

      @ClusterCron('* * * * * *', { name: 'scoped' })
      run({ id }: ScheduleContext) {
        seen.push([id, this.tick.id]);
      }
    }
    await boot({ providers: [Scoped] });
    await until(() => seen.length > 0);
    const [[id, request]] = seen as [[string, string]];
    expect(request).toBe(id);
  });

  it('has the same as a method of TasksService, also for a schedule that is added later', async () => {
    const app = await boot({});
    const tasks = app.get(TasksService);
    const runs: Date[] = [];
    tasks.schedule('late', '* * * * * *', ({ plannedAt }) => void runs.push(plannedAt));
    await until(() => runs.length > 0);
    expect(tasks.types()).toEqual([expect.objectContaining({ type: 'cron.late' })]);
  });

  it('runs by hand when a task of its type is submitted', async () => {
    const ids: string[] = [];
    @Injectable()
    class ByHand implements OnModuleInit {
      constructor(private readonly tasks: TasksService) {}

      async onModuleInit() {
        await this.tasks.submit({ type: 'cron.yearly', id: 'cron.yearly:by-hand' });
      }

      @ClusterCron('0 0 1 1 *', { name: 'yearly' })
      run({ id, plannedAt }: ScheduleContext) {
        ids.push(`${id} ${Math.abs(plannedAt.getTime() - Date.now()) < 60_000}`);
      }
    }
    await boot({ providers: [ByHand] });
    await until(() => ids.length > 0);
    expect(ids).toEqual(['cron.yearly:by-hand true']);
  });
});

describe('an application with a schedule that can not be used', () => {
  it('does not start, and names every fault with the method, the field, the value and what to do', async () => {
    class Wrong {
      @ClusterCron('61 * * * *', { name: 'a b', timeZone: 'Mars/Olympus' })
      one() {}
      @ClusterCron('0 3 * * *', { mode: 'sometimes' as 'queue' })
      two() {}
      @ClusterCron('0 3 * * *', { mode: 'at-most-one-running', missed: 'all' })
      three() {}
      @ClusterCron('0 3 * * *', { mod: 'queue' } as object)
      four() {}
      @ClusterCron('0 3 * * *', { lease: 'soon' })
      five() {}
    }
    const { message } = await bootError(boot({ providers: [Wrong] }));
    for (const fault of [
      'Wrong.one: name: "a b" is not 1 to 59 letters, digits, "_", "." or "-"',
      'Wrong.one: expression: "61 * * * *"',
      'Wrong.one: timeZone: "Mars/Olympus"',
      'Wrong.two: mode: "sometimes" is not "once-per-tick" or "at-most-one-running" or "queue"',
      'Wrong.three: missed: "all" would be skipped in mode "at-most-one-running", but for one tick: give "once", or mode "queue"',
      'Wrong.five: lease: "soon"',
      'Wrong.four: mod: ',
    ])
      expect(message).toContain(fault);
  });

  it('does not start with two schedules of one name, and names both methods', async () => {
    class Twins {
      @ClusterCron('0 3 * * *', { name: 'twin' })
      one() {}
      @ClusterCron('0 4 * * *', { name: 'twin' })
      two() {}
    }
    const { message } = await bootError(boot({ providers: [Twins] }));
    expect(message).toContain(
      'Twins.two has a schedule with the name "twin", and Twins.one has one, too: give one of them another name',
    );
  });

  it('does not start if another handler has the type of the schedule', async () => {
    class Both {
      @TaskHandler('cron.both')
      task() {}
      @ClusterCron('0 3 * * *', { name: 'both' })
      tick() {}
    }
    expect(await bootError(boot({ providers: [Both] }))).toEqual(refusedNaming(/^Both\.tick: type: .*"cron\.both"/));
  });

  it('does not start with a guard that would skip a tick and complete its task', async () => {
    @Injectable()
    class Skipping {
      @LeaderOnly()
      @ClusterCron('0 3 * * *', { name: 'one' })
      async one() {}

      @ClusterCron('0 3 * * *', { name: 'two' })
      @ClusterSingleton('two', '10s')
      async two() {}
    }
    expect(await bootError(boot({ providers: [Skipping] }))).toEqual(
      refusedNaming(/^Skipping\.one .* @LeaderOnly/, /^Skipping\.two .* @ClusterSingleton/),
    );
  });

  it('refuses a static method when it is decorated', () => {
    expect(() => {
      class Static {
        @ClusterCron('0 3 * * *')
        static run() {}
      }
      return Static;
    }).toThrow(refusedNaming(/^@ClusterCron .* Static\.run/));
  });
});
