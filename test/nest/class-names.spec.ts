import { randomUUID } from 'node:crypto';
import { Injectable, type Type, mixin } from '@nestjs/common';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import {
  ClusterCron,
  ClusterSingleton,
  InvalidOptionsError,
  LeaderOnly,
  TasksService,
  memory,
} from 'nestjs-gatekeeper';
import { unstableName } from '../../lib/nest/class-names.js';
import { bootError, until, useApps } from '../support/apps.js';

const { boot } = useApps();

/** Midnight of the first of January, at which no test runs. */
const NEW_YEAR = '0 0 1 1 *';

function named<T extends object>(type: T, name: string): T {
  return Object.defineProperty(type, 'name', { value: name });
}

/** The class with a name as a minifier gives it. */
function minified<T extends object>(type: T): T {
  return named(type, 'e2');
}

function scheduled(options = {}): Type {
  class Reports {
    @ClusterCron(NEW_YEAR, options)
    async nightly() {}
  }
  return Reports;
}

function missing(options = {}): Type {
  @Injectable()
  class Jobs {
    @ClusterSingleton('export', '10s', { missed: 'once', ...options })
    @Cron(NEW_YEAR, { timeZone: 'UTC' })
    async export() {}
  }
  return Jobs;
}

function guarded(): Type {
  class Jobs {
    @ClusterSingleton('one', '10s')
    async one() {}

    @ClusterSingleton('two', '10s')
    async two() {}

    @LeaderOnly()
    async three() {}

    @ClusterSingleton('four', '10s', { job: 'four' })
    async four() {}
  }
  return Jobs;
}

const imports = [ScheduleModule.forRoot()];

describe.each([
  ['minified', minified, 'e2'],
  ['random, as mixin() of Nest makes it,', mixin, '[0-9a-f]{21}'],
])('a class whose name is %s', (_kind, made, name) => {
  it('names no schedule: each node or build would make another one, and run at every tick', async () => {
    const error = await bootError(boot({ providers: [made(scheduled())] }));
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error.message).toMatch(
      new RegExp(`${name}\\.nightly.*@ClusterCron\\('0 3 \\* \\* \\*', { name: 'nightly' }\\)`),
    );
  });

  it('names no job whose missed runs are made up for', async () => {
    const error = await bootError(boot({ imports, providers: [made(missing())] }));
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error.message).toMatch(new RegExp(`${name}\\.export.*{ missed: 'once', job: 'nightly' }`));
  });

  it('may have schedules and jobs with names of their own', async () => {
    const providers = [made(scheduled({ name: 'nightly' })), made(missing({ job: 'export' }))];
    const app = await boot({ imports, providers });
    expect((await app.get(TasksService).schedules()).map((schedule) => schedule.name)).toEqual(['nightly']);
    expect(app.gatekeeper.registry.jobs()).toMatchObject([{ job: 'export', semaphore: 'export', runNow: 'yes' }]);
  });

  it('names other jobs with one warning for all of them', async () => {
    const { log } = await boot({ providers: [made(guarded())] }, { leadership: { enabled: true } });
    const warnings = log.filter((line) => line.startsWith('warn'));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(new RegExp(`${name}\\.one, ${name}\\.two, ${name}\\.three\\)`));
  });
});

describe('a name of a job that its decorator gives', () => {
  it('is that of its runs, and of "run now"', async () => {
    class Jobs {
      @ClusterSingleton('export', '10s', { job: 'nightly' })
      async export() {}

      @ClusterSingleton((tenant: string) => `import-${tenant}`, '10s', { job: 'import' })
      async import(_tenant: string) {}
    }
    const { events, get, gatekeeper } = await boot({ providers: [Jobs] }, { heartbeat: 100 });
    await get(Jobs).export();
    await get(Jobs).import('acme');
    await gatekeeper.runNow({ semaphore: 'export', job: 'nightly' });
    const started = events.filter((event) => event.type === 'run-started');
    expect(started.map(({ job }) => job)).toEqual(['nightly', 'import(import-acme)', 'nightly']);
  });

  it('is checked at the boot', async () => {
    class Jobs {
      @ClusterSingleton('export', '10s', { job: '' })
      async export() {}
    }
    expect((await bootError(boot({ providers: [Jobs] }))).message).toContain('Jobs.export: job: is empty');
  });
});

describe('two classes of one name', () => {
  function both(options: Parameters<typeof ClusterSingleton>[2] = {}, semaphores = ['cleanup', 'cleanup']): Type[] {
    return semaphores.map((semaphore) => {
      class Jobs {
        @ClusterSingleton(semaphore, '10s', options)
        async nightly() {}
      }
      return Jobs;
    });
  }
  const ABOUT = '2 classes have a method Jobs.nightly under semaphore "cleanup"';

  it('with methods of one semaphore are warned of at the boot, because one method is skipped while the other runs', async () => {
    const { log } = await boot({ providers: both() });
    expect(log.filter((line) => line.startsWith(`warn ${ABOUT}`))).toHaveLength(1);
  });

  it.each<[string, Type[]]>([
    ['that are one job on purpose', both({ job: 'nightly' })],
    ['that may overlap', both({ overlap: 'allow' })],
    ['of different semaphores', both({}, ['cleanup', 'export'])],
    [
      'that are one class, provided twice',
      both()
        .slice(0, 1)
        .flatMap((type) => [type, { provide: 'AGAIN', useClass: type } as never]),
    ],
  ])('are not warned of with methods %s', async (_what, providers) => {
    const { log } = await boot({ providers });
    expect(log.filter((line) => line.includes('classes have a method'))).toEqual([]);
  });
});

it('a schedule that two applications name after methods of the same name is a warning of both', async () => {
  const store = memory();
  const options = { heartbeat: 100 };
  const all = await Promise.all(
    ['shop', 'billing'].map((application) => boot({ providers: [scheduled()] }, { ...options, application }, store)),
  );
  const shared = all.map(
    ({ events }) =>
      () =>
        events.find((event) => event.type === 'other-application'),
  );
  await until(() => shared.every((found) => found() !== undefined));
  expect(shared[0]!()).toMatchObject({ application: 'billing', names: [expect.stringContaining('Reports.nightly')] });
});

describe('the name of a class', () => {
  const classes = {
    Reports: class Reports {},
    none: (() => class {})(),
    a: class a {},
    x8k2j1: class x8k2j1 {},
    _Reports: class _Reports extends Object {},
  };

  it.each([
    ['Reports', 'Reports', undefined],
    ['Reports', 'ReportsOfBilling', undefined],
    ['none', 'Reports', undefined],
    ['a', 'S3ToB2Sync20261128', undefined],
    ['x8k2j1', 'x8k2j1', undefined],
    ['_Reports', 'Reports', undefined],
    ['Reports', '4f0a1bd3a29c0d4e5f6a7', 'made-up'],
    ['none', '4f0a1bd3a29c0d4e5f6a7', 'made-up'],
    ['Reports', `Reports_${randomUUID()}`, 'made-up'],
    ['Reports', `Reports${Date.now()}`, 'made-up'],
    ['Reports', 'reports_k3j9x2m1p', 'made-up'],
    ['Reports', 'Db', 'minified'],
    ['none', '', 'minified'],
  ] as const)('is looked at with its source: %s, now %s', (source, name, expected) => {
    expect(unstableName({ type: named(classes[source], name) })).toBe(expected);
  });
});
