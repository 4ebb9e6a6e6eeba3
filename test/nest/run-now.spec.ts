import { Injectable, Scope } from '@nestjs/common';
import { Cron, Interval, ScheduleModule } from '@nestjs/schedule';
import {
  CannotRunError,
  ClusterSingleton,
  GatekeeperService,
  LeaderOnly,
  currentPermit,
  memory,
} from 'nestjs-gatekeeper';
import { until, useApps } from '../support/apps.js';

const ANN = { by: 'ann', reason: 'again' };

/** A decorator of another package, above the guard. It keeps the metadata, as it should. */
function Noting(): MethodDecorator {
  return (_target, _property, descriptor: PropertyDescriptor) => {
    const original = descriptor.value as (this: Jobs, ...args: unknown[]) => unknown;
    descriptor.value = function (this: Jobs, ...args: unknown[]) {
      this.noted.push('before');
      return original.apply(this, args);
    };
    for (const key of Reflect.getMetadataKeys(original)) {
      Reflect.defineMetadata(key, Reflect.getMetadata(key, original), descriptor.value as object);
    }
  };
}

@Injectable()
class Jobs {
  readonly calls: (string | number)[] = [];
  readonly noted: string[] = [];

  @ClusterSingleton('cron', '10s')
  @Cron('0 0 1 1 *')
  async onceAYear(...args: unknown[]) {
    this.calls.push('cron', args.length, currentPermit().semaphore);
  }

  @ClusterSingleton('interval', '10s')
  @Interval(10_000_000)
  async seldom(_done: unknown) {
    this.calls.push('interval');
  }

  @Noting()
  @ClusterSingleton('plain', '10s')
  async plain() {
    this.calls.push('plain');
    // Not the requested run: a call of the application.
    await this.failing().catch(() => undefined);
  }

  @ClusterSingleton('failing', '10s', { onSkip: 'throw', atLeastFor: 0, retry: { attempts: 2, backoff: 0 } })
  async failing() {
    this.calls.push('failing');
    throw new Error('disk full');
  }

  @ClusterSingleton('import', '10s')
  async import(tenant: string) {
    this.calls.push(tenant);
  }

  @Noting()
  @ClusterSingleton('noted above', '10s')
  async above(tenant: string) {
    this.calls.push(tenant);
  }

  @ClusterSingleton('noted below', '10s')
  @Noting()
  async below(tenant: string) {
    this.calls.push(tenant);
  }

  @ClusterSingleton('with a default', '10s')
  async withDefault(tenant = 'all') {
    this.calls.push(tenant);
  }

  @ClusterSingleton(() => 'named', '10s')
  async named() {
    this.calls.push('named');
  }

  @LeaderOnly()
  async leading() {
    this.calls.push('leading');
  }
}

/** As a compiler makes it that emits no types of parameters. */
@Injectable()
class Untyped {
  async import(_tenant: string) {}
}
for (const decorate of [ClusterSingleton('without types', '10s'), Noting()]) {
  const descriptor = Object.getOwnPropertyDescriptor(Untyped.prototype, 'import')!;
  decorate(Untyped.prototype, 'import', descriptor);
  Object.defineProperty(Untyped.prototype, 'import', descriptor);
}

@Injectable({ scope: Scope.REQUEST })
class PerRequest {
  @ClusterSingleton('per-request', '10s')
  async run(): Promise<string | undefined> {
    return 'ran';
  }
}

describe('runNow() of a Nest application', () => {
  const { boot } = useApps();
  const start = (store = memory(), leadership = { enabled: true }) =>
    boot(
      { imports: [ScheduleModule.forRoot()], providers: [Jobs, PerRequest, Untyped] },
      { leadership, heartbeat: 100 },
      store,
    );

  it('calls a scheduled method without arguments, and under its permit', async () => {
    const { get, gatekeeper } = await start();
    expect(await gatekeeper.runNow('cron', ANN)).toMatchObject({
      state: 'ended',
      outcome: 'ok',
      job: 'Jobs.onceAYear',
    });
    expect(await gatekeeper.runNow('interval', ANN)).toMatchObject({ state: 'ended', outcome: 'ok' });
    expect(get(Jobs).calls).toEqual(['cron', 0, 'cron', 'interval']);
  });

  it('runs a method without a schedule, through the decorators above it', async () => {
    const { get, gatekeeper, events } = await start();
    expect(await gatekeeper.runNow('plain', ANN)).toMatchObject({ state: 'ended', outcome: 'ok' });
    expect(get(Jobs).noted).toEqual(['before']);
    const started = events.flatMap((event) => (event.type === 'run-started' ? [[event.job, event.by]] : []));
    expect(started.filter(([job]) => job !== 'leadership')).toEqual([
      ['Jobs.plain', 'ann'],
      ['Jobs.failing', undefined],
    ]);
  });

  it('follows the options of the decorator, and tells the error of the last attempt', async () => {
    const { get, gatekeeper, events } = await start();
    const status = await gatekeeper.runNow('failing', ANN);
    expect(status).toMatchObject({ state: 'ended', outcome: 'failed', message: 'disk full' });
    expect(get(Jobs).calls).toEqual(['failing', 'failing']);
    expect(events.filter(({ type }) => type === 'problem')).toEqual([]);
  });

  it.each([
    ['import', /"Jobs\.import" .*arguments/],
    ['noted above', /"Jobs\.above" .*arguments/],
    ['noted below', /"Jobs\.below" .*arguments/],
    ['with a default', /"Jobs\.withDefault" .*arguments/],
    ['without types', /"Untyped\.import" .*arguments/],
    ['per-request', /"PerRequest\.run" .*per request/],
  ])('says why it does not run %s', async (semaphore, why) => {
    const { gatekeeper } = await start();
    const error = await gatekeeper.runNow(semaphore, ANN).catch((reason: unknown) => reason as Error);
    expect(error).toBeInstanceOf(CannotRunError);
    expect((error as Error).message).toMatch(why);
  });

  it('runs on another application that has the job', async () => {
    const store = memory();
    const worker = await start(store);
    const other = await boot({ providers: [] }, { heartbeat: 100 }, store);
    await other.app.get(GatekeeperService).ready();
    await until(async () => (await other.gatekeeper.registry.nodes()).some(({ jobs }) => jobs.length > 0));
    const status = await other.gatekeeper.runNow('cron', ANN);
    expect(status).toMatchObject({ state: 'ended', outcome: 'ok', node: { acquirer: 'app1' } });
    expect(worker.get(Jobs).calls).toEqual(['cron', 0, 'cron']);
  });
});
