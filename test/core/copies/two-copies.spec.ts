import { Inject, Injectable, Module } from '@nestjs/common';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import * as own from 'nestjs-gatekeeper';
import {
  AllocationService,
  ClusterService,
  GatekeeperHealthIndicator,
  GatekeeperService,
  InvalidTaskError,
  StoreUnavailableError,
  TasksService,
  currentPermit,
  grouped,
  single,
} from 'nestjs-gatekeeper';
import { GatekeeperTestingModule, TestGatekeeper } from 'nestjs-gatekeeper/testing';
import { refusedNaming } from '../../support/refused.js';
import { secondCopyOf } from '../../support/second-copy.js';
import { useBoot } from './boot.js';

/** Another copy of the package, as a bundler would have put it into the application: with short names of classes. */
const other = await secondCopyOf<typeof own>(['index.ts']);

const SEMAPHORE = { definitions: [{ name: 'job', duration: '10s' }] };

/** Resolves when a test calls `end`. */
function promised<T>() {
  let end: (value: T) => void = () => undefined;
  const ended = new Promise<T>((resolve) => (end = resolve));
  return { end, ended };
}

describe('a decorator of another copy', () => {
  const boot = useBoot();

  it('@ClusterSingleton guards its method, which finds its permit by any copy', async () => {
    const tokens: number[][] = [];

    @Injectable()
    class Jobs {
      @other.ClusterSingleton('job', '10s')
      async run(): Promise<string | undefined> {
        tokens.push([currentPermit().token, other.currentPermit().token]);
        return 'done';
      }
    }
    const app = await boot([Jobs]);
    await expect(app.get(Jobs).run()).resolves.toBe('done');
    await app.get(GatekeeperService).definitions.pause('job');
    await expect(app.get(Jobs).run()).resolves.toBeUndefined();
    expect(tokens).toHaveLength(1);
    expect(tokens[0]![0]).toBe(tokens[0]![1]);
  });

  it('@ClusterSingleton guards the method of an instance that a factory made', async () => {
    class Jobs {
      @other.ClusterSingleton('job', '10s')
      async run(): Promise<string | undefined> {
        return 'done';
      }
    }
    const app = await boot([{ provide: Jobs, useFactory: () => new Jobs() }]);
    await expect(app.get(Jobs).run()).resolves.toBe('done');
  });

  it('@ClusterSingleton works together with @Cron, and is listed as a job', async () => {
    @Injectable()
    class Jobs {
      @Cron('0 3 * * *')
      @other.ClusterSingleton('job', '10s')
      async run() {}
    }
    const app = await boot([Jobs], {}, [ScheduleModule.forRoot()]);
    const { methods } = app.get(own.GuardedMethodsExplorer);
    expect(methods).toMatchObject([{ method: 'Jobs.run', runNow: 'yes', schedule: { expression: '0 3 * * *' } }]);
  });

  it('@ClusterSingleton is counted with one of this copy on the same method', async () => {
    @Injectable()
    class Jobs {
      @own.ClusterSingleton('job', '10s')
      @other.ClusterSingleton('job', '10s')
      async run() {}
    }
    await expect(boot([Jobs])).rejects.toThrow('@ClusterSingleton');
  });

  it('@LeaderOnly and @OnLeadershipGained and @OnLeadershipLost follow the leader', async () => {
    const calls: string[] = [];
    const { end, ended } = promised<string>();

    @Injectable()
    class Leader {
      @other.LeaderOnly()
      async lead(): Promise<string | undefined> {
        return 'led';
      }

      @other.OnLeadershipGained()
      gained(term: own.Term) {
        calls.push('gained');
        end(term.scope);
      }

      @other.OnLeadershipLost()
      lost() {
        calls.push('lost');
      }
    }
    const app = await boot([Leader], { leadership: { enabled: true } });
    await ended;
    await expect(app.get(Leader).lead()).resolves.toBe('led');
    await app.close();
    expect(calls).toEqual(['gained', 'lost']);
  });

  it('@AllocatedResources gets what this node owns', async () => {
    const { end, ended } = promised<readonly string[]>();

    @Injectable()
    class Owner {
      @other.AllocatedResources('queues')
      follow(owned: readonly own.Allocated[]) {
        if (owned.length === 2) end(owned.map(({ id }) => id));
      }
    }
    const soon = { membership: { lease: '1s' }, clockTolerance: '100ms' };
    await boot([Owner], {
      ...soon,
      allocation: { groups: [{ name: 'queues', resources: () => ['a', 'b'], id: String }] },
    });
    expect((await ended).toSorted()).toEqual(['a', 'b']);
  });

  it('@TaskHandler, @GroupFinishedHandler and @InvalidTaskHandler get tasks, and their errors keep their meaning', async () => {
    const { end, ended } = promised<unknown>();
    const finished = promised<number>();
    const later = promised<string>();
    let tries = 0;

    @Injectable()
    class Handlers {
      @other.TaskHandler('later')
      async later() {
        if (tries++ === 0) throw new other.RetryLaterError(1);
        later.end('done');
      }

      @other.TaskHandler('bad')
      async bad() {
        throw new other.InvalidTaskError('no such order');
      }

      @other.InvalidTaskHandler()
      invalid(_task: unknown, error: unknown) {
        end(error);
      }

      @other.TaskHandler('file')
      async file() {}

      @other.GroupFinishedHandler('file')
      async all({ total }: own.GroupContext) {
        finished.end(total);
      }
    }
    const app = await boot([Handlers]);
    const tasks = app.get(TasksService);
    await tasks.submit(single('later', 'x'), {}, { maxAttempts: 1 });
    await tasks.submit(single('bad', 'x'), {}, { maxAttempts: 5 });
    await tasks.submit(grouped('file', 'import', 1, 1), {});
    expect(await ended).toBeInstanceOf(InvalidTaskError);
    expect(await finished.ended).toBe(1);
    expect(await later.ended).toBe('done');
  });

  it('@ClusterCron makes a schedule', async () => {
    @Injectable()
    class Reports {
      @other.ClusterCron('0 3 * * *', { name: 'nightly' })
      async run() {}
    }
    const app = await boot([Reports]);
    expect((await app.get(TasksService).schedules()).map(({ name }) => name)).toEqual(['nightly']);
  });
});

describe('a service of another copy', () => {
  const boot = useBoot();

  it('is the service of the application, in all of its modules', async () => {
    @Injectable()
    class Library {
      constructor(
        @Inject(other.GatekeeperService) readonly gatekeeper: own.GatekeeperService,
        @Inject(other.ClusterService) readonly cluster: own.ClusterService,
        @Inject(other.AllocationService) readonly allocation: own.AllocationService,
        @Inject(other.TasksService) readonly tasks: own.TasksService,
        @Inject(other.GatekeeperHealthIndicator) readonly health: own.GatekeeperHealthIndicator,
      ) {}
    }

    @Module({ providers: [Library] })
    class LibraryModule {}

    const app = await boot([], SEMAPHORE, [LibraryModule]);
    const library = app.get(Library, { strict: false });
    expect(library.gatekeeper).toBe(app.get(GatekeeperService));
    expect(library.cluster).toBe(app.get(ClusterService));
    expect(library.allocation).toBe(app.get(AllocationService));
    expect(library.tasks).toBe(app.get(TasksService));
    expect(library.health).toBe(app.get(GatekeeperHealthIndicator));
    await expect(library.gatekeeper.tryAcquire('job')).resolves.toBeDefined();
  });

  it('is the test gatekeeper in a unit test', async () => {
    @Injectable()
    class Jobs {
      constructor(@Inject(other.GatekeeperService) readonly gatekeeper: own.GatekeeperService) {}

      @other.ClusterSingleton('job', '10s')
      async run(): Promise<string | undefined> {
        return 'done';
      }
    }
    const imports = [GatekeeperTestingModule.forRoot()];
    const module = await Test.createTestingModule({ imports, providers: [Jobs] }).compile();
    const jobs = module.get(Jobs);
    expect(jobs.gatekeeper).toBe(module.get(TestGatekeeper));
    await expect(jobs.run()).resolves.toBe('done');
    module.get(TestGatekeeper).deny('job');
    await expect(jobs.run()).resolves.toBeUndefined();
    expect(module.get(TestGatekeeper).callsOf('job')).toHaveLength(2);
  });

  it('does not stand beside another gatekeeper: two modules of two copies are refused', async () => {
    const second = other.GatekeeperModule.forRoot({ store: other.memory() });
    await expect(boot([], {}, [second as never])).rejects.toEqual(refusedNaming(/ 2 /));
  });
});

describe('a store of another copy', () => {
  const boot = useBoot();

  it('keeps what this copy writes, and its errors keep their meaning', async () => {
    const store = other.memory();
    const app = await boot([], { ...SEMAPHORE, store });
    const gatekeeper = app.get(GatekeeperService);
    await expect(gatekeeper.tryAcquire('job')).resolves.toBeDefined();
    const opened = store.open();
    await opened.close();
    await expect(opened.records.read('x')).rejects.toBeInstanceOf(StoreUnavailableError);
  });
});
