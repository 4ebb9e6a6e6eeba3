import { Injectable, Module, type Type } from '@nestjs/common';
import { Cron, Interval, ScheduleModule, SchedulerRegistry, Timeout } from '@nestjs/schedule';
import { ClusterCron, ClusterSingleton, LeaderOnly, memory } from 'nestjs-gatekeeper';
import { type Registration, isRepeated } from '../../lib/nest/firings.js';
import { bootError, until, useApps } from '../support/apps.js';

/** Each second. */
const SECOND = '* * * * * *';
/** Midnight of the first of January, at which no test runs. */
const NEW_YEAR = '0 0 1 1 *';

const { boot } = useApps();

/** Calls by the name of the method, as the seconds in which they began. A timer may fire a few ms early. */
class Calls {
  readonly #seconds = new Map<string, number[]>();

  note(method: string): void {
    this.#seconds.set(method, [...this.of(method), Math.round(Date.now() / 1000)]);
  }

  of(method: string): readonly number[] {
    return this.#seconds.get(method) ?? [];
  }

  /** Seconds in which the method began more than once. */
  doubled(method: string): number[] {
    const seconds = this.of(method);
    return seconds.filter((second, index) => seconds.indexOf(second) !== index);
  }
}

function jobsWith(calls: Calls): Type {
  @Injectable()
  class Jobs {
    @ClusterSingleton('fast', '5s')
    @Cron(SECOND)
    async fast() {
      calls.note('fast');
    }

    @Cron(SECOND)
    @ClusterSingleton(() => `demand-${1}`, '5s')
    async demand() {
      calls.note('demand');
    }

    @LeaderOnly()
    @Cron(SECOND)
    async lead() {
      calls.note('lead');
    }

    @ClusterSingleton('interval', '5s')
    @Interval(1000)
    async interval() {
      calls.note('interval');
    }

    @ClusterSingleton('timeout', '5s')
    @Timeout(10)
    async timeout() {
      calls.note('timeout');
    }

    // The second call comes after the first one has kept the process busy.
    @ClusterSingleton('busy', '5s')
    @Cron(SECOND)
    async busy() {
      calls.note('busy');
      for (const until = performance.now() + 20; performance.now() < until;);
    }

    @Cron(SECOND)
    plain() {
      calls.note('plain');
    }
  }
  return Jobs;
}

const METHODS = ['fast', 'demand', 'lead', 'interval', 'timeout', 'busy'];

describe('guarded methods run once per planned time', () => {
  async function run(imports: (Jobs: Type) => object[], providers: (Jobs: Type) => Type[] = () => []) {
    const calls = new Calls();
    const Jobs = jobsWith(calls);
    const app = await boot(
      { imports: imports(Jobs) as never, providers: providers(Jobs) },
      { leadership: { enabled: true } },
    );
    await until(() => METHODS.every((method) => calls.of(method).length >= (method === 'timeout' ? 1 : 3)));
    return { ...app, calls, warnings: app.log.filter((line) => line.startsWith('warn')) };
  }

  function module(metadata: object, name: string): Type {
    const type = Object.defineProperty(class {}, 'name', { value: name });
    Module(metadata)(type);
    return type;
  }

  it('if two modules import the scheduler, and the boot names them', async () => {
    const feature = module({ imports: [ScheduleModule.forRoot()] }, 'Feature');
    const other = module({ imports: [ScheduleModule.forRoot()] }, 'Other');
    const { calls, warnings } = await run(
      () => [feature, other],
      (Jobs) => [Jobs],
    );
    expect(calls.doubled('plain')).not.toEqual([]);
    expect(METHODS.filter((method) => calls.doubled(method).length > 0)).toEqual([]);
    expect(warnings).toEqual([expect.stringMatching(/@nestjs\/schedule is imported 2 times \(by Feature, Other\)/)]);
  });

  it('if two modules provide their class, and the boot names them', async () => {
    const { calls, warnings } = await run((Jobs) => [
      ScheduleModule.forRoot(),
      module({ providers: [Jobs] }, 'Feature'),
      module({ providers: [Jobs] }, 'Other'),
    ]);
    expect(calls.doubled('plain')).not.toEqual([]);
    expect(METHODS.filter((method) => calls.doubled(method).length > 0)).toEqual([]);
    expect(warnings).toEqual([expect.stringMatching(/Jobs is provided 2 times \(by Feature, Other\)/)]);
  });

  it('without a warning if all is as it should be', async () => {
    const { calls, warnings } = await run(
      () => [ScheduleModule.forRoot()],
      (Jobs) => [Jobs],
    );
    expect([...METHODS, 'plain'].filter((method) => calls.doubled(method).length > 0)).toEqual([]);
    expect(warnings).toEqual([]);
  });
});

describe('a method that is registered twice', () => {
  const twice = [ScheduleModule.forRoot(), ScheduleModule.forRoot({ timeouts: true })];

  it('runs at each direct call, also from a job, and at each tick that is fired by hand', async () => {
    let calls = 0;
    let nested = 0;
    @Injectable()
    class Jobs {
      @ClusterSingleton('outer', '5s')
      @Cron(NEW_YEAR, { name: 'outer' })
      async outer() {
        calls++;
        await Promise.all([this.inner(), this.inner()]);
      }

      @ClusterSingleton('inner', '5s', { overlap: 'allow' })
      @Cron(NEW_YEAR)
      async inner() {
        nested++;
      }
    }
    const app = await boot({ imports: twice, providers: [Jobs] });
    const jobs = app.get(Jobs);
    await jobs.outer();
    await jobs.outer();
    expect([calls, nested]).toEqual([2, 4]);
    const job = app.get(SchedulerRegistry).getCronJob('outer');
    for (const expected of [3, 4]) {
      await job.fireOnTick();
      await until(() => nested === 2 * expected);
      expect(calls).toBe(expected);
    }
  });

  it('runs on each of the instances that the application makes by itself', async () => {
    const ran: string[] = [];
    class Poller {
      constructor(private readonly queue: string) {}

      @ClusterSingleton('poll', '5s', { overlap: 'allow' })
      @Timeout(1)
      async poll() {
        ran.push(this.queue);
      }
    }
    const providers = ['a', 'b'].map((queue) => ({ provide: queue, useFactory: () => new Poller(queue) }));
    const { log } = await boot({ imports: twice, providers });
    await until(() => ran.length >= 2);
    expect(ran.toSorted()).toEqual(['a', 'b']);
    expect(log.filter((line) => line.includes('Poller is provided'))).toEqual([]);
  });

  it('with @ClusterCron, of a class that two modules provide, fails the boot', async () => {
    class Jobs {
      @ClusterCron(NEW_YEAR)
      async nightly() {}
    }
    const providers = [Jobs, { provide: 'again', useClass: Jobs }];
    expect((await bootError(boot({ providers }))).message).toContain('there are two instances of its class');
  });

  it('runs once on each of two applications in one process', async () => {
    const ran: string[] = [];
    @Injectable()
    class Jobs {
      @ClusterSingleton('soon', '5s', { acquirer: 'any', holder: 'x', overlap: 'allow' })
      @Timeout(1)
      async soon() {
        ran.push('ran');
      }
    }
    for (const _each of [1, 2]) await boot({ imports: twice, providers: [Jobs] }, {}, memory());
    await until(() => ran.length >= 2);
    expect(ran).toHaveLength(2);
  });
});

describe('a firing', () => {
  const at = (firedAt: number, ranAt = -Infinity, name = 'job'): Registration => ({ firedAt, ranAt, name });
  // Planned times are 10000 and 20000; this registration fires at the second.
  it.each<[string, Registration, Registration, boolean]>([
    ['the other has run it just now', at(10_001), at(20_000, 20_000), true],
    ['the other has run it long ago, while the process was busy', at(10_001), at(20_000, 20_001), true],
    ['the other is stopped since the former time', at(-Infinity), at(10_000, 10_000), false],
    ['the other ran the former one, after this one was left out', at(9_999), at(10_000, 10_000), false],
    ['the other was left out', at(10_001), at(20_000, 10_000), false],
    ['the other was fired by hand meanwhile', at(10_001), at(15_000, 15_000), false],
    ['the other has run under another name', at(10_001), at(20_000, 20_000, 'other'), false],
    ['this one is fired by hand after its own firing was left out', at(20_001), at(20_000, 20_000), false],
    ['the other fired a little early', at(10_001), at(19_900, 19_900), true],
  ])('is a repetition or not: %s', (_case, own, other, expected) => {
    expect(isRepeated(own, [other], 'job', 20_000)).toBe(expected);
  });
});
