import {
  Controller,
  Get,
  Inject,
  Injectable,
  Module,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { Interval, ScheduleModule } from '@nestjs/schedule';
import {
  ClusterService,
  ClusterSingleton,
  type GatekeeperOptions,
  GatekeeperService,
  OnLeadershipLost,
  type Permit,
  PermitLostError,
  TaskHandler,
  TasksService,
  currentPermit,
  memory,
  single,
} from 'nestjs-gatekeeper';
import { type App, until, useApps } from '../support/apps.js';
import { StartedTimers } from '../support/started-timers.js';

@Injectable()
class Jobs {
  runs = 0;
  isOver = false;
  signal?: AbortSignal;
  end!: () => void;

  @ClusterSingleton('long', '10s')
  async long() {
    this.runs++;
    this.signal = currentPermit().signal;
    await new Promise<void>((resolve) => (this.end = resolve));
    this.isOver = true;
  }

  @ClusterSingleton('tick', '10s')
  @Interval(5)
  async tick() {
    this.runs++;
  }
}

describe('app.close() in the middle of a run', () => {
  const { boot } = useApps();

  it('waits for the run, and gives its permit back afterwards', async () => {
    const store = memory();
    const one = await boot({ providers: [Jobs] }, {}, store);
    const other = await boot({ providers: [Jobs] }, {}, store);
    const jobs = one.get(Jobs);
    const running = jobs.long();
    await until(() => jobs.runs === 1);
    let isClosed = false;
    const closing = one.app.close().then(() => (isClosed = true));
    await until(() => isClosing(one));
    expect([isClosed, jobs.isOver]).toEqual([false, false]);
    expect(await other.get(Jobs).long()).toBeUndefined();
    expect(other.get(Jobs).runs).toBe(0);
    jobs.end();
    await Promise.all([running, closing]);
    expect(jobs.isOver).toBe(true);
    void other.get(Jobs).long();
    await until(() => other.get(Jobs).runs === 1);
    other.get(Jobs).end();
  });

  it('begins no new run while it waits and after', async () => {
    const booted = await boot({ imports: [ScheduleModule.forRoot()], providers: [Jobs] });
    const { app, events } = booted;
    const jobs = booted.get(Jobs);
    await until(() => jobs.runs > 2);
    const running = jobs.long();
    await until(() => jobs.signal !== undefined);
    const closing = app.close();
    await until(() => isClosing(booted));
    const { runs } = jobs;
    await until(() => events.some((event) => event.type === 'run-skipped' && event.reason === 'closing'));
    jobs.end();
    await Promise.all([running, closing]);
    expect(jobs.runs).toBe(runs);
    expect(await jobs.tick()).toBeUndefined();
    expect(jobs.runs).toBe(runs);
  });

  it('tells a run that takes longer than shutdownGrace, and leaves its permit to expire', async () => {
    const store = memory();
    const one = await boot({ providers: [Jobs] }, { shutdownGrace: 50 }, store);
    const other = await boot({ providers: [Jobs] }, {}, store);
    const jobs = one.get(Jobs);
    const running = jobs.long();
    await until(() => jobs.runs === 1);
    await one.app.close();
    expect(jobs.signal!.reason).toBeInstanceOf(PermitLostError);
    expect(jobs.signal!.reason).toMatchObject({ reason: 'closing' });
    await other.get(Jobs).long();
    expect(other.get(Jobs).runs).toBe(0);
    jobs.end();
    await running;
  });

  it('leaves no timer behind', async () => {
    const timers = new StartedTimers();
    const { app, get } = await boot({ providers: [Jobs] }, { stateDump: '10s' });
    const running = get(Jobs).long();
    await until(() => get(Jobs).runs === 1);
    expect(timers.going.size).toBeGreaterThan(0);
    get(Jobs).end();
    await running;
    await app.close();
    expect(await timers.left()).toBe(0);
  });
});

/** A part of the application whose connections end with it. It notes what still uses them, in the order of the shutdown. */
@Injectable()
class Database implements OnModuleDestroy {
  readonly log: string[] = [];

  onModuleDestroy() {
    this.log.push('destroyed');
  }
}

@Module({ providers: [Database], exports: [Database] })
class DatabaseModule {}

@Injectable()
class Users {
  end!: () => void;
  endTask!: () => void;

  constructor(@Inject(Database) private readonly database: Database) {}

  @ClusterSingleton('long', '10s')
  async long() {
    await new Promise<void>((resolve) => (this.end = resolve));
    this.database.log.push('run');
  }

  @TaskHandler('mail')
  async mail() {
    await new Promise<void>((resolve) => (this.endTask = resolve));
    this.database.log.push('task');
  }

  @OnLeadershipLost()
  lost() {
    this.database.log.push('term');
  }
}

describe('the parts of the application that work needs', () => {
  const { boot } = useApps();

  it('are destroyed only after runs, tasks and terms have ended', async () => {
    const app = await boot({ imports: [DatabaseModule], providers: [Users] }, { leadership: { enabled: true } });
    const { log } = app.get(Database);
    const users = app.get(Users);
    await until(() => app.get(ClusterService).isLeader());
    await app.get(TasksService).submit(single('mail', 'a'), 1);
    const running = users.long();
    await until(() => users.end !== undefined && users.endTask !== undefined);
    const closing = app.app.close();
    await until(() => log.includes('term'));
    expect(app.get(ClusterService).isLeader()).toBe(false);
    users.end();
    users.endTask();
    await Promise.all([running, closing]);
    expect([log.length, log.at(-1)]).toEqual([4, 'destroyed']);
  });
});

@Controller()
class Imports {
  permit?: Permit;
  end!: () => void;

  constructor(@Inject(GatekeeperService) private readonly gatekeeper: GatekeeperService) {}

  @Get()
  async import() {
    await using permit = await this.gatekeeper.acquire('import', { duration: '5m', keepAlive: true });
    this.permit = permit;
    await new Promise<void>((resolve) => (this.end = resolve));
    permit.assertHeld();
    return 'imported';
  }
}

describe('app.close() while a request holds a permit', () => {
  const { boot } = useApps();

  async function requested(options: Partial<GatekeeperOptions>) {
    const store = memory();
    const booted = await boot({ controllers: [Imports] }, options, store);
    const other = await boot({}, {}, store);
    await booted.app.listen(0);
    const answer = fetch(await booted.app.getUrl(), { headers: { connection: 'close' } });
    const imports = booted.get(Imports);
    await until(() => imports.end !== undefined);
    return { app: booted.app, other, imports, answer };
  }

  it('waits for the request as Nest does, and the permit is given back', async () => {
    const { app, other, imports, answer } = await requested({});
    const closing = app.close();
    await until(() => !app.getHttpServer().listening);
    expect(imports.permit!.isHeld).toBe(true);
    imports.end();
    expect(await (await answer).text()).toBe('imported');
    await closing;
    expect(await other.gatekeeper.tryAcquire('import', { duration: '5m' })).toBeDefined();
  });

  it('ends the permit after shutdownGrace, and tells why', async () => {
    const { app, imports, answer } = await requested({ shutdownGrace: 50 });
    const closing = app.close();
    await until(() => !imports.permit!.isHeld);
    expect(() => imports.permit!.assertHeld()).toThrow(
      expect.objectContaining({ code: 'permit-lost', reason: 'closing' }),
    );
    imports.end();
    expect((await answer).status).toBe(500);
    await closing;
  });

  it('closes before the rest of the application if no call holds a permit', async () => {
    const log: string[] = [];
    @Injectable()
    class Pool implements OnApplicationShutdown {
      constructor(@Inject(GatekeeperService) { events$ }: GatekeeperService) {
        events$.subscribe({ complete: () => log.push('gatekeeper closed') });
      }

      onApplicationShutdown() {
        log.push('pool ended');
      }
    }
    const { app } = await boot({ providers: [Pool] });
    await app.close();
    expect(log).toEqual(['gatekeeper closed', 'pool ended']);
  });
});

function isClosing({ gatekeeper }: App): boolean {
  return gatekeeper.health().faults.some(({ code }) => code === 'closing');
}
