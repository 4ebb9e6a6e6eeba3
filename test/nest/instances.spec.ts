import { Injectable, Scope } from '@nestjs/common';
import {
  ClusterSingleton,
  Gatekeeper,
  NoGatekeeperError,
  guardWith,
  memory,
  parseGatekeeperOptions,
} from 'nestjs-gatekeeper';
import { GatekeeperTestingModule, TestGatekeeper } from 'nestjs-gatekeeper/testing';
import { type App, until, useApps } from '../support/apps.js';

@Injectable()
class Jobs {
  @ClusterSingleton('job', '10s')
  async work(): Promise<string | undefined> {
    return 'ran';
  }
}

@Injectable({ scope: Scope.REQUEST })
class RequestScoped {
  @ClusterSingleton('request', '10s')
  async work(): Promise<string | undefined> {
    return 'ran';
  }
}

@Injectable({ scope: Scope.TRANSIENT })
class Transient {
  readonly state = 'constructed';

  @ClusterSingleton('transient', '10s')
  async work(): Promise<string | undefined> {
    return this.state;
  }
}

describe('instances of other kinds', () => {
  const { boot, start } = useApps();

  it('are guarded when they are request-scoped, with one clear warning at boot', async () => {
    const store = memory();
    const one = await boot({ providers: [RequestScoped] }, {}, store);
    const other = await boot({ providers: [RequestScoped] }, {}, store);
    const [mine, theirs] = await Promise.all([one, other].map(({ app }) => app.resolve(RequestScoped)));
    expect(await mine!.work()).toBe('ran');
    expect(await theirs!.work()).toBeUndefined();
    expect(one.log.filter((line) => line.startsWith('warn'))).toEqual([
      expect.stringMatching(/^warn RequestScoped\.work is guarded, but its provider is not static/),
    ]);
  });

  it('are guarded when they are transient, with one clear warning at boot', async () => {
    const { app, log } = await boot({ providers: [Transient] });
    expect(await (await app.resolve(Transient)).work()).toBe('constructed');
    expect(log.filter((line) => line.startsWith('warn'))).toEqual([expect.stringMatching(/^warn Transient\.work /)]);
  });

  it.each([
    ['a factory', { provide: Jobs, useFactory: () => new Jobs() }],
    [
      'a factory that is a function of the old kind',
      {
        provide: Jobs,
        useFactory: function () {
          return new Jobs();
        },
      },
    ],
    ['a value', { provide: Jobs, useValue: new Jobs() }],
  ])('are guarded when they come from %s', async (_, provider) => {
    const { get } = await boot({ providers: [provider] });
    expect(await get(Jobs).work()).toBe('ran');
  });

  it('are guarded by the gatekeeper of the living application when one instance is a part of several', async () => {
    const jobs = new Jobs();
    const boots = () => boot({ providers: [{ provide: Jobs, useValue: jobs }] });
    const first = await boots();
    const second = await boots();
    expect(await jobs.work()).toBe('ran');
    expect(runsOf(first)).toEqual(['run-finished']);
    await first.app.close();
    const third = await boots();
    expect(await jobs.work()).toBe('ran');
    expect([first, second, third].map((app) => runsOf(app).length)).toEqual([1, 0, 1]);
  });

  it('ask the TestGatekeeper of the present unit test, not of a former one', async () => {
    const jobs = new Jobs();
    for (const reason of [undefined, 'paused'] as const) {
      const imports = [GatekeeperTestingModule.forRoot()];
      const app = await start({ imports, providers: [{ provide: Jobs, useValue: jobs }] });
      if (reason) app.get(TestGatekeeper).denyAll(reason);
      expect(await jobs.work()).toBe(reason ? undefined : 'ran');
      expect(app.get(TestGatekeeper).calls).toMatchObject([{ outcome: reason ?? 'granted' }]);
    }
  });

  it('keep the gatekeeper that they were given with guardWith', async () => {
    const own = new TestGatekeeper();
    const jobs = guardWith(new Jobs(), own);
    const { events } = await boot({ providers: [{ provide: Jobs, useValue: jobs }] });
    await jobs.work();
    expect(own.calls).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'run-started')).toEqual([]);
  });

  it('are guarded under a symbol, and listed once under two tokens', async () => {
    const token = Symbol('jobs');
    const { app, log } = await boot({ providers: [Jobs, { provide: token, useExisting: Jobs }] });
    expect(await app.get<Jobs>(token).work()).toBe('ran');
    expect(log.filter((line) => !/^(debug|log) /.test(line))).toEqual([]);
  });

  it('do not run without a gatekeeper, and the error says what to do', async () => {
    const error: unknown = await new Jobs().work().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NoGatekeeperError);
    expect(error).toMatchObject({ code: 'no-gatekeeper' });
    expect((error as Error).message).toMatch(
      /^Jobs\.work is guarded .*guardWith\(instance, gatekeeper\) with a new TestGatekeeper\(\).*GatekeeperTestingModule.*nestjs-gatekeeper\/testing/,
    );
  });

  it('do not run as a function without `this`', async () => {
    const { work } = new Jobs();
    const error = { code: 'no-gatekeeper', message: expect.stringMatching(/^Jobs\.work /) };
    await expect(work()).rejects.toMatchObject(error);
  });

  it('run in unit tests with guardWith', async () => {
    const silent = { log() {}, warn() {}, error() {}, debug() {} };
    const gatekeeper = new Gatekeeper(parseGatekeeperOptions({ store: memory(), definitionsDelay: 0 }), silent);
    await gatekeeper.start();
    const jobs = guardWith(new Jobs(), gatekeeper);
    await until(async () => (await jobs.work()) === 'ran');
    expect(await jobs.work()).toBe('ran');
    await gatekeeper.close();
  });
});

function runsOf({ events }: App) {
  return events.map(({ type }) => type).filter((type) => type === 'run-finished');
}
