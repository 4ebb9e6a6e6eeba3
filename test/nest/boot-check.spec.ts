import { Injectable, type Type } from '@nestjs/common';
import { Cron, Interval, ScheduleModule } from '@nestjs/schedule';
import {
  AllocatedResources,
  ClusterCron,
  ClusterSingleton,
  type GatekeeperOptions,
  GroupFinishedHandler,
  GuardedMethodsExplorer,
  InvalidOptionsError,
  InvalidTaskHandler,
  LeaderOnly,
  OnLeadershipGained,
  OnLeadershipLost,
  TaskHandler,
} from 'nestjs-gatekeeper';
import { of } from 'rxjs';
import { bootError, useApps } from '../support/apps.js';
import { refusedNaming } from '../support/refused.js';

/** A class whose method `work` is decorated so. */
function guarded(...decorators: MethodDecorator[]): Type {
  @Injectable()
  class Jobs {
    async work() {
      return 'done';
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(Jobs.prototype, 'work')!;
  for (const decorate of decorators.toReversed()) decorate(Jobs.prototype, 'work', descriptor);
  Object.defineProperty(Jobs.prototype, 'work', descriptor);
  return Jobs;
}

describe('the check of guarded methods at boot', () => {
  const { boot } = useApps();
  const faultsOf = async (providers: Type[], options: Partial<GatekeeperOptions> = {}) => {
    const error = await bootError(boot({ providers }, options));
    expect(error).toBeInstanceOf(InvalidOptionsError);
    return (error as InvalidOptionsError).faults;
  };

  it.each([
    ['a duration that is none', ['job', 'soon'], 'duration: "soon"'],
    ['a duration in months', ['job', 'P1M'], 'duration: "P1M"'],
    ['an atLeastFor in years', ['job', 'PT10M', { atLeastFor: 'P1Y' }], 'atLeastFor: "P1Y"'],
    ['a duration that is too short', ['job', 20], 'duration: 20 ms '],
    ['no duration', ['job'], 'semaphore "job" is not in GatekeeperModule\'s definitions and has no duration'],
    ['an empty name', ['', '10s'], 'name: is empty'],
    ['a reserved name', ['leader:main', '10s'], '"leader:" is reserved'],
    ['a wrong switch', ['job', '10s', { keepAlive: 'no' }], 'keepAlive: "no"'],
    ['a wrong choice', ['job', '10s', { overlap: 'queue' }], 'overlap: "queue"'],
    ['a wrong maxRunTime', ['job', '10s', { maxRunTime: 0 }], 'maxRunTime: 0 '],
    ['an unknown option', ['job', '10s', { lockFor: 1 }], 'lockFor'],
    ['a wrong duration of a function', [() => 'x', 'soon'], 'duration: "soon"'],
  ] as [string, Parameters<typeof ClusterSingleton>, string][])('finds %s', async (_, parameters, fault) => {
    const faults = await faultsOf([guarded(ClusterSingleton(...parameters))]);
    expect(faults).toEqual([expect.stringMatching(/^Jobs\.work: /)]);
    expect(faults[0]).toContain(fault);
  });

  it('finds two decorators on one method', async () => {
    const faults = await faultsOf([guarded(ClusterSingleton('one', '10s'), ClusterSingleton('two', '10s'))]);
    expect(faults).toEqual([expect.stringContaining('Jobs.work has two @ClusterSingleton decorators')]);
  });

  it('finds different durations for one semaphore', async () => {
    const faults = await faultsOf([guarded(ClusterSingleton('job', '10s')), guarded(ClusterSingleton('job', '20s'))]);
    expect(faults).toEqual([expect.stringMatching(/semaphore "job" gets the duration 20000 ms here and 10000 ms at/)]);
  });

  it('finds what is not defined when definitions are required', async () => {
    const faults = await faultsOf([guarded(ClusterSingleton('job', '10s'))], { requireDefinitions: true });
    expect(faults).toEqual([expect.stringContaining('requireDefinitions is on: add it')]);
  });

  it('lists all faults of all methods in one error', async () => {
    const faults = await faultsOf([
      guarded(ClusterSingleton('one', 'soon', { keepAlive: 7 as never })),
      guarded(ClusterSingleton('two')),
      guarded(ClusterSingleton('three', '10s')),
      guarded(ClusterSingleton('three', '20s')),
    ]);
    expect(faults).toHaveLength(4);
  });

  it('takes a semaphore of the definitions without a duration', async () => {
    const Jobs = guarded(ClusterSingleton('job'));
    const { get } = await boot({ providers: [Jobs] }, { definitions: [{ name: 'job', duration: '10s' }] });
    expect(await (get(Jobs) as { work(): Promise<string> }).work()).toBe('done');
  });

  it('lists the guarded methods', async () => {
    const { get } = await boot({ providers: [guarded(ClusterSingleton('job', '10s'))] });
    expect(get(GuardedMethodsExplorer).methods).toMatchObject([
      { method: 'Jobs.work', job: 'Jobs.work', isStatic: true, metadata: { semaphore: 'job', duration: '10s' } },
    ]);
  });

  it('touches no getter of a provider', async () => {
    @Injectable()
    class Lazy {
      get connection(): never {
        throw new Error('not connected yet');
      }
    }
    await expect(boot({ providers: [Lazy] })).resolves.toBeDefined();
  });
});

describe('a schedule without a scheduler', () => {
  const { boot } = useApps();
  const warnings = ({ log }: { log: readonly string[] }) => log.filter((line) => line.startsWith('warn'));
  const scheduled = () => guarded(Cron('0 3 * * *'), ClusterSingleton('job', '10s'));

  it('is warned of, once for all methods', async () => {
    const [first, second] = [scheduled(), guarded(Interval(60_000), ClusterSingleton('other', '10s'))];
    expect(warnings(await boot({ providers: [first, second] }))).toEqual([
      'warn Jobs.work and 1 more will not run by a schedule on this node: import ScheduleModule.forRoot() of ' +
        '@nestjs/schedule in the root module',
    ]);
  });

  it('is no reason to warn with a scheduler, or of methods without a schedule', async () => {
    expect(warnings(await boot({ imports: [ScheduleModule.forRoot()], providers: [scheduled()] }))).toEqual([]);
    expect(warnings(await boot({ providers: [guarded(ClusterSingleton('job', '10s'))] }))).toEqual([]);
    const disabled = guarded(Cron('0 3 * * *', { disabled: true }), ClusterSingleton('job', '10s'));
    expect(warnings(await boot({ providers: [disabled] }))).toEqual([]);
  });
});

describe('@ClusterSingleton on what it can not guard', () => {
  const { boot } = useApps();

  it('throws for a static method, and says what to do', () => {
    expect(() => {
      class Jobs {
        @ClusterSingleton('job', '10s')
        static async work() {}
      }
      return Jobs;
    }).toThrow(/static method Jobs\.work: make it a method of a provider/);
  });

  it('throws for a method whose name is a symbol, which Nest does not find', () => {
    const work = Symbol('work');
    expect(() => {
      class Jobs {
        @ClusterSingleton('job', '10s')
        async [work]() {}
      }
      return Jobs;
    }).toThrow("@ClusterSingleton can't be used on Jobs.Symbol(work)");
  });

  it.each([
    function* work() {
      yield 1;
    },
    async function* work() {
      yield 1;
    },
  ])('throws for a generator, of which a call runs nothing (%#)', (work) => {
    class Jobs {}
    expect(() => ClusterSingleton('job', '10s')(Jobs.prototype, 'work', { value: work })).toThrow(
      "@ClusterSingleton can't be used on the generator Jobs.work: a call of it runs nothing",
    );
  });

  it.each(['work', 'later'] as const)('fails the run of a method that returns an Observable: %s', async (method) => {
    @Injectable()
    class Jobs {
      // @ts-expect-error it returns no promise
      @ClusterSingleton('job', '10s')
      work() {
        return of(1);
      }

      @ClusterSingleton('job', '10s')
      async later(): Promise<object | undefined> {
        return of(1);
      }
    }
    const app = await boot({ providers: [Jobs] });
    // Its work would begin at the subscription, without the permit.
    await expect(app.get(Jobs)[method]()).rejects.toThrow(`Jobs.${method} returned an Observable`);
  });

  it('fails at boot for a method whose name is too long for a job, and runs any name of a semaphore', async () => {
    const long = 'exportAll'.repeat(23);
    @Injectable()
    class Jobs {
      @ClusterSingleton((name: string) => name, '10s')
      async work(_name: string): Promise<string | undefined> {
        return 'ran';
      }
    }
    @Injectable()
    class Long {
      @ClusterSingleton('job', '10s')
      async [long]() {}
    }
    const app = await boot({ providers: [Jobs] });
    expect(await app.get(Jobs).work('x'.repeat(200))).toBe('ran');
    const error = await bootError(boot({ providers: [Long] }));
    expect(error).toEqual(refusedNaming(`Long.${long}: job: `));
  });

  it('throws for a getter', () => {
    expect(() => {
      class Jobs {
        @ClusterSingleton('job', '10s')
        get work() {
          return 1;
        }
      }
      return Jobs;
    }).toThrow(/can only guard methods, not work/);
  });

  it.each([
    ['@ClusterSingleton', ClusterSingleton('job', '10s')],
    ['@TaskHandler', TaskHandler('mail')],
    ['@GroupFinishedHandler', GroupFinishedHandler('mail')],
    ['@InvalidTaskHandler', InvalidTaskHandler()],
    ['@ClusterCron', ClusterCron('* * * * *')],
    ['@LeaderOnly', LeaderOnly()],
    ['@OnLeadershipGained', OnLeadershipGained()],
    ['@OnLeadershipLost', OnLeadershipLost()],
    ['@AllocatedResources', AllocatedResources('queues')],
  ] as const)('says what to set when %s gets the arguments of a standard decorator', (name, decorator) => {
    const standard = decorator as unknown as (method: () => void, context: object) => void;
    const use = () => standard(() => undefined, { kind: 'method', name: 'work', static: false, private: false });
    expect(use).toThrow(InvalidOptionsError);
    expect(use).toThrow(`${name} was called as a standard decorator`);
    expect(use).toThrow('set "experimentalDecorators" and "emitDecoratorMetadata" to true');
  });
});
