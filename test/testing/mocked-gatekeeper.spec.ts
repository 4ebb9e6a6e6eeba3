import { Injectable, type INestApplicationContext, Module } from '@nestjs/common';
import { Interval, ScheduleModule } from '@nestjs/schedule';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import { ModuleMocker } from 'jest-mock';
import {
  ClusterSingleton,
  Gatekeeper,
  GatekeeperModule,
  GatekeeperService,
  NoGatekeeperError,
  guardWith,
  memory,
} from 'nestjs-gatekeeper';

@Injectable()
class Jobs {
  @ClusterSingleton('export', '10m')
  async export(): Promise<string | undefined> {
    return 'exported';
  }

  @ClusterSingleton((tenant: string) => `tenant:${tenant}`, '10m')
  @Interval(3_600_000)
  async perTenant(tenant: string): Promise<string | undefined> {
    return `exported ${tenant}`;
  }
}

@Injectable()
class Imports {
  constructor(readonly gatekeeper: GatekeeperService) {}
}

@Module({
  imports: [
    ScheduleModule.forRoot(),
    GatekeeperModule.forRoot({
      store: memory(),
      console: { tokens: [{ token: 'a-token-of-a-test', name: 'test', role: 'node' }] },
    }),
  ],
  providers: [Jobs, Imports, { provide: 'jobs', useFactory: () => new Jobs() }],
})
class AppModule {}

/** As in Nest's documentation of auto-mocking. */
function automock(token: unknown): unknown {
  const mocker = new ModuleMocker(globalThis);
  const Mock = mocker.generateFromMetadata(mocker.getMetadata(token as new () => object)!);
  return new Mock();
}

/** Every property is a function that returns undefined. */
const answersNothing = () => new Proxy({}, { get: (_, key) => (key === 'then' ? undefined : () => undefined) });

const MOCKS: [string, () => unknown][] = [
  ["jest's automock of the class", () => automock(GatekeeperService)],
  ['a proxy whose methods answer nothing', answersNothing],
  ['an empty object', () => ({})],
];

describe('a mock in the place of GatekeeperService', () => {
  const opened: INestApplicationContext[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((app) => app.close()));
  });

  async function boot(builder: TestingModuleBuilder) {
    const app = (await builder.compile()).createNestApplication({ logger: false });
    opened.push(app);
    return app.init();
  }

  describe.each(MOCKS)('%s', (_, mocked) => {
    it('lets the whole application boot and close', async () => {
      const builder = Test.createTestingModule({ imports: [AppModule] });
      const app = await boot(builder.overrideProvider(GatekeeperService).useValue(mocked()));
      expect(app.get(Imports).gatekeeper).toBe(app.get(GatekeeperService));
      await expect(app.close()).resolves.toBeUndefined();
    });

    it('makes a guarded method say what it lacks, for instances of every kind', async () => {
      const builder = Test.createTestingModule({ imports: [AppModule] });
      const app = await boot(builder.overrideProvider(GatekeeperService).useValue(mocked()));
      const [jobs, made] = [app.get(Jobs), app.get<Jobs>('jobs')];
      for (const run of [() => jobs.export(), () => jobs.perTenant('acme'), () => made.export()]) {
        await expect(run()).rejects.toThrow(NoGatekeeperError);
        await expect(run()).rejects.toThrow(
          /^Jobs\.\w+ .*is a mock, use new TestGatekeeper\(\) .*nestjs-gatekeeper\/testing.*\{ executed: true, value/,
        );
      }
    });

    it('is what useMocker gives a job class that stands alone', async () => {
      const tokens: unknown[] = [];
      const builder = Test.createTestingModule({ providers: [Jobs] });
      const module = await builder.useMocker((token) => (tokens.push(token), mocked())).compile();
      expect(tokens).toEqual([GatekeeperService]);
      await expect(module.get(Jobs).export()).rejects.toThrow(NoGatekeeperError);
    });
  });

  it('runs the method when its run() answers as a gatekeeper does', async () => {
    const run: Gatekeeper['run'] = async (_, work) => ({ executed: true, value: await work(undefined as never) });
    const useValue = { run };
    const module = await Test.createTestingModule({
      providers: [Jobs, { provide: GatekeeperService, useValue }],
    }).compile();
    expect(await module.get(Jobs).export()).toBe('exported');
    expect(await guardWith(new Jobs(), useValue).perTenant('acme')).toBe('exported acme');
  });

  it('skips the method when its run() says so', async () => {
    const run: Gatekeeper['run'] = async () => ({ executed: false, reason: 'no-permit' });
    expect(await guardWith(new Jobs(), { run }).export()).toBeUndefined();
  });
});

describe('a job class without any gatekeeper', () => {
  it('rejects', async () => {
    const error: unknown = await new Jobs().export().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NoGatekeeperError);
    expect(error).toMatchObject({ code: 'no-gatekeeper', message: expect.stringMatching(/^Jobs\.export /) });
  });

  it('is named by Nest with what to import, when a testing module lacks the gatekeeper', async () => {
    await expect(Test.createTestingModule({ providers: [Jobs] }).compile()).rejects.toThrow(
      /dependencies of the Jobs.*GatekeeperModule\.forRoot.*GatekeeperTestingModule\.forRoot\(\) of nestjs-gatekeeper\/testing/,
    );
  });
});
