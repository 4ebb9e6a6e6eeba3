import { Injectable, Scope } from '@nestjs/common';
import { Cron, Interval, ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { ClusterSingleton, type ClusterSingletonOptions, memory } from 'nestjs-gatekeeper';
import { until, useApps } from '../support/apps.js';

/** Midnight of the first of January, at which no test runs. */
const EXPRESSION = '0 0 1 1 *';
const HOUR = 3_600_000;
const newYear = Date.UTC(new Date().getUTCFullYear(), 0, 1);

@Injectable()
class Jobs {
  readonly calls: string[] = [];

  @ClusterSingleton('export', '10s', { missed: 'once' })
  @Cron(EXPRESSION, { timeZone: 'UTC' })
  async export() {
    this.calls.push('export');
  }

  @ClusterSingleton('import', '10s')
  @Cron(EXPRESSION, { timeZone: 'UTC' })
  async import() {
    this.calls.push('import');
  }
}

describe("missed: 'once' of a Nest application", () => {
  const { boot } = useApps();

  async function storeWith(last: number) {
    const store = memory();
    const record = { v: 1, nonce: 'x', seq: 1, at: last, expression: EXPRESSION, timeZone: 'UTC', last };
    await store.open().records.compareAndSet('last-tick:Jobs.export@export', undefined, JSON.stringify(record));
    return store;
  }

  it('makes up for the planned time that passed while the application was down, once on two nodes', async () => {
    const store = await storeWith(newYear - HOUR);
    const imports = [ScheduleModule.forRoot()];
    const all = await Promise.all([1, 2].map(() => boot({ imports, providers: [Jobs] }, { heartbeat: 100 }, store)));
    const started = () => all.flatMap(({ events }) => events.filter((event) => event.type === 'run-started'));
    await until(() => started().length > 0);
    expect(started()).toMatchObject([{ job: 'Jobs.export', missed: newYear }]);
    expect(all.flatMap(({ get }) => get(Jobs).calls)).toEqual(['export']);
  });

  it('makes up for it although a stopped job has the same expression', async () => {
    @Injectable()
    class Stopped {
      @Cron(EXPRESSION, { name: 'stopped', timeZone: 'UTC', disabled: true })
      run() {}
    }
    const store = await storeWith(newYear - HOUR);
    const { get } = await boot({ imports: [ScheduleModule.forRoot()], providers: [Stopped, Jobs] }, {}, store);
    await until(() => get(Jobs).calls.length > 0);
    expect(get(Jobs).calls).toEqual(['export']);
  });

  it('makes up for it in a minified bundle, where classes have other names', async () => {
    const { name } = SchedulerRegistry;
    Object.defineProperty(SchedulerRegistry, 'name', { value: 'a' });
    try {
      const store = await storeWith(newYear - HOUR);
      const { get } = await boot({ imports: [ScheduleModule.forRoot()], providers: [Jobs] }, {}, store);
      await until(() => get(Jobs).calls.length > 0);
      expect(get(Jobs).calls).toEqual(['export']);
    } finally {
      Object.defineProperty(SchedulerRegistry, 'name', { value: name });
    }
  });

  it('does not where the scheduler is off', async () => {
    const store = await storeWith(newYear - HOUR);
    const imports = [ScheduleModule.forRoot({ cronJobs: false })];
    const idle = await boot({ imports, providers: [Jobs] }, { heartbeat: 100 }, store);
    const other = await boot({ imports: [ScheduleModule.forRoot()], providers: [Jobs] }, { heartbeat: 100 }, store);
    await until(() => other.get(Jobs).calls.length > 0);
    expect(idle.get(Jobs).calls).toEqual([]);
  });

  const options = (given: unknown) => given as ClusterSingletonOptions;

  it('refuses it at the boot where it can have no effect, naming the method and the reason', async () => {
    @Injectable()
    class Wrong {
      @ClusterSingleton('a', '10s', options({ missed: 'all' }))
      @Cron(EXPRESSION)
      async value() {}

      @ClusterSingleton('b', '10s', { missed: 'once' })
      @Interval(1_000_000)
      async interval() {}

      @ClusterSingleton(() => 'c', '10s', { missed: 'once' })
      @Cron(EXPRESSION)
      async named() {}

      @ClusterSingleton('d', '10s', { missed: 'once', wait: '2m' })
      @Cron(EXPRESSION)
      async waits() {}

      @ClusterSingleton('e', '10s', { missed: 'once' })
      @Cron(new Date(Date.now() + 1_000_000_000))
      async date() {}

      @ClusterSingleton('f', '10s', { missed: 'once' })
      @Cron(EXPRESSION, { utcOffset: 60 })
      async offset() {}
    }
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest {
      @ClusterSingleton('g', '10s', { missed: 'once' })
      @Cron(EXPRESSION)
      async run() {}
    }
    const namesakes = ['h', 'i'].map((semaphore) => {
      @Injectable()
      class Cleanup {
        @ClusterSingleton(semaphore, '10s', { missed: 'once' })
        @Cron(EXPRESSION)
        async run() {}

        @ClusterSingleton(semaphore, '10s')
        @Cron(EXPRESSION)
        async skip() {}
      }
      return Cleanup;
    });
    const booting = boot({ imports: [ScheduleModule.forRoot()], providers: [Wrong, PerRequest, ...namesakes] });
    const { faults } = (await booting.catch((error: unknown) => error)) as { faults: string[] };
    const namesake = (semaphore: string) =>
      `Cleanup.run: missed: "once" of semaphore "${semaphore}" needs a job of its own, and another method with the ` +
      `same name has it, too: give one of them another name, as in { missed: 'once', job: 'nightly' }`;
    expect(faults.toSorted()).toEqual([
      namesake('h'),
      namesake('i'),
      'PerRequest.run: missed: "once" needs a singleton provider',
      expect.stringContaining('Wrong.date: missed: expression: '),
      'Wrong.interval: missed: "once" needs an @Cron on the same method',
      'Wrong.named: missed: "once" needs a fixed name of the semaphore',
      'Wrong.offset: missed: "once" needs a timeZone in @Cron instead of utcOffset',
      'Wrong.value: missed: "all" is not "skip" or "once"',
      'Wrong.waits: missed: "once" needs a wait below 60000 ms',
    ]);
  });
});
