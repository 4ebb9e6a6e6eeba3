import { Inject, Injectable, type OnModuleInit, Scope } from '@nestjs/common';
import {
  type ContextId,
  ContextIdFactory,
  type ContextIdResolver,
  type ContextIdResolverFn,
  type ContextIdStrategy,
  ModuleRef,
  REQUEST,
} from '@nestjs/core';
import {
  ClusterSingleton,
  type GatekeeperOptions,
  type GroupContext,
  GroupFinishedHandler,
  InvalidTaskError,
  InvalidTaskHandler,
  RetryLaterError,
  type TaskContext,
  TaskHandler,
  TasksService,
  defineTask,
  grouped,
  memory,
  single,
} from 'nestjs-gatekeeper';
import { type App, until, useApps } from '../support/apps.js';

const { boot } = useApps();

const mail = defineTask<{ to: string }, { sent: string }>('mail', { backoff: { first: 1 }, maxAttempts: 2 });

@Injectable()
class Mails {
  readonly log: string[] = [];
  readonly contexts: TaskContext<{ to: string }>[] = [];
  readonly groups: string[] = [];

  @TaskHandler(mail, { concurrency: 8 })
  async send(task: TaskContext<{ to: string }>) {
    const { data, attempt } = task;
    this.contexts.push(task);
    this.log.push(`${data.to} ${attempt}`);
    if (data.to === 'wrong') throw new InvalidTaskError('no such address');
    if (data.to === 'later' && this.log.length === 1) throw new RetryLaterError(1);
    if (data.to === 'second' && attempt === 1) throw new Error('the line is busy');
    return { sent: data.to };
  }

  @GroupFinishedHandler(mail)
  async sent(group: GroupContext<{ sent: string }>) {
    const members: string[] = [];
    for await (const { number, outcome, result } of group.members())
      members.push(`${number} ${result?.sent ?? outcome}`);
    this.groups.push(`${group.group}: ${group.completed}/${group.total}, ${members.join(', ')}`);
  }

  @InvalidTaskHandler()
  async invalid({ id }: Pick<TaskContext, 'id'>, error: Error) {
    this.log.push(`${id} is invalid: ${error.message}`);
  }
}

/** Applications of one cluster, all with a handler of mails. */
async function bootAll(count: number, options: Partial<GatekeeperOptions> = {}): Promise<App[]> {
  const store = memory();
  const apps: App[] = [];
  while (apps.length < count) apps.push(await boot({ providers: [Mails] }, options, store));
  return apps;
}

const tasksOf = (app: App) => app.get(TasksService);
const logOf = (apps: readonly App[]) => apps.flatMap((app) => app.get(Mails).log);

async function endOf(app: App, id: string) {
  await until(async () => (await tasksOf(app).find(id))?.keptUntil !== undefined);
  return (await tasksOf(app).find(id))!;
}

describe('a method with @TaskHandler', () => {
  it('handles a task that a node without a handler submitted, and its result is kept', async () => {
    const store = memory();
    const submitter = await boot({}, {}, store);
    await boot({ providers: [Mails] }, {}, store);
    const submitted = await tasksOf(submitter).submit(single(mail, 'order-7'), { to: 'ada' });
    expect(submitted).toMatchObject({ id: 'mail:order-7', outcome: 'created' });
    expect(await endOf(submitter, 'mail:order-7')).toMatchObject({
      state: 'completed',
      result: { sent: 'ada' },
      maxAttempts: 2,
    });
  });

  it('gets each task once, on one of the nodes', async () => {
    const apps = await bootAll(2);
    const names = Array.from({ length: 40 }, (_, number) => `m${number}`);
    await tasksOf(apps[0]!).submitMany(names.map((to) => ({ name: single(mail, to), data: { to } })));
    await until(() => logOf(apps).length >= 40);
    for (const to of names) await endOf(apps[1]!, `mail:${to}`);
    expect(logOf(apps).toSorted()).toEqual(names.map((to) => `${to} 1`).toSorted());
  });

  it('is called again after an error, and after a RetryLaterError, which is no failure', async () => {
    const [app] = await bootAll(1);
    await tasksOf(app!).submit(single(mail, 'one'), { to: 'later' });
    await endOf(app!, 'mail:one');
    await tasksOf(app!).submit(single(mail, 'two'), { to: 'second' });
    expect(await endOf(app!, 'mail:two')).toMatchObject({ attempts: 1, state: 'completed' });
    expect(app!.get(Mails).log).toEqual(['later 1', 'later 1', 'second 1', 'second 2']);
  });

  it('that throws an InvalidTaskError ends the task, and the handler of invalid tasks gets it', async () => {
    const [app] = await bootAll(1);
    await tasksOf(app!).submit(single(mail, 'one'), { to: 'wrong' });
    expect(await endOf(app!, 'mail:one')).toMatchObject({
      state: 'invalid',
      lastError: { message: 'no such address' },
    });
    expect(app!.get(Mails).log).toEqual(['wrong 1', 'mail:one is invalid: no such address']);
  });

  it('whose guard skips it with an error is called again', async () => {
    let calls = 0;
    @Injectable()
    class Loud {
      @TaskHandler(defineTask('loud', { backoff: { first: 1 } }))
      @ClusterSingleton('loud', '10s', { onSkip: 'throw', atLeastFor: 0 })
      async run() {
        calls++;
        return 'worked';
      }
    }
    const store = memory();
    const app = await boot({ providers: [Loud] }, {}, store);
    const other = await boot({}, {}, store);
    const permit = await other.gatekeeper.acquire('loud', { duration: '10s' });
    await tasksOf(app).submit(single('loud', 'one'));
    await until(async () => (await tasksOf(app).find('loud:one'))?.attempts === 1);
    await permit.release();
    expect(await endOf(app, 'loud:one')).toMatchObject({ state: 'completed', result: 'worked' });
    expect(calls).toBe(1);
  });

  it('runs no task before all modules are initialised', async () => {
    const store = memory();
    const submitter = await boot({}, {}, store);
    await tasksOf(submitter).submit(single('slow', 'one'));
    const log: string[] = [];
    @Injectable()
    class Slow implements OnModuleInit {
      async onModuleInit() {
        await until(async () => (await tasksOf(submitter).find('slow:one'))?.state === 'waiting');
        log.push('initialised');
      }

      @TaskHandler('slow')
      async run() {
        log.push('run');
      }
    }
    await boot({ providers: [Slow] }, {}, store);
    await endOf(submitter, 'slow:one');
    expect(log).toEqual(['initialised', 'run']);
  });
});

describe('a group of tasks', () => {
  it('calls @GroupFinishedHandler on one node when all members have ended, with results and failures', async () => {
    const apps = await bootAll(2);
    const [app] = apps;
    const members = ['a', 'b', 'wrong', 'd'];
    for (const [index, to] of members.entries()) {
      await tasksOf(app!).submit(grouped(mail, 'june', index + 1, members.length), { to });
    }
    const groups = () => apps.flatMap((each) => each.get(Mails).groups);
    await until(() => groups().length > 0);
    await endOf(app!, 'mail[june]#join');
    expect(groups()).toEqual(['june: 3/4, 1 a, 2 b, 3 invalid, 4 d']);
  });
});

describe('a handler in request scope', () => {
  it('gets an instance per task, with the task as its request', async () => {
    let instances = 0;
    const seen: string[] = [];
    @Injectable({ scope: Scope.REQUEST })
    class Scoped {
      readonly #number = ++instances;
      constructor(
        @Inject(REQUEST) private readonly request: TaskContext,
        @Inject(TasksService) private readonly tasks: TasksService,
      ) {}

      @TaskHandler('scoped')
      async run({ id }: TaskContext) {
        seen.push(`${this.#number} ${this.request.id} ${id} ${this.tasks instanceof TasksService}`);
      }
    }
    const app = await boot({ providers: [Scoped] });
    for (const name of ['a', 'b']) {
      await tasksOf(app).submit(single('scoped', name));
      await endOf(app, `scoped:${name}`);
    }
    expect(seen).toEqual(['1 scoped:a scoped:a true', '2 scoped:b scoped:b true']);
  });
});

describe('request scope, as a controller has it', () => {
  @Injectable({ scope: Scope.REQUEST })
  class Dependency {
    constructor(@Inject(REQUEST) readonly request: TaskContext) {}
  }

  @Injectable({ scope: Scope.REQUEST })
  class Looking {
    constructor(
      @Inject(Dependency) private readonly dependency: Dependency,
      @Inject(REQUEST) private readonly request: TaskContext,
      @Inject(ModuleRef) private readonly moduleRef: ModuleRef,
    ) {}

    @TaskHandler('look')
    async look(context: TaskContext) {
      return [await this.#isFound(), context === this.request];
    }

    @GroupFinishedHandler('look')
    async end() {
      if (!(await this.#isFound())) throw new InvalidTaskError('another instance');
    }

    async #isFound(): Promise<boolean> {
      const id = ContextIdFactory.getByRequest(this.request as unknown as Record<string, unknown>);
      const found = await this.moduleRef.resolve(Dependency, id, { strict: false });
      return found === this.dependency && found.request === this.request;
    }
  }

  it('finds the other providers of the same attempt by its request, in the handlers of tasks and groups', async () => {
    const app = await boot({ providers: [Dependency, Looking] });
    await tasksOf(app).submit(grouped('look', 'june', 1, 1));
    expect(await endOf(app, 'look[june]#1')).toMatchObject({ result: [true, true] });
    expect(await endOf(app, 'look[june]#join')).toMatchObject({ state: 'completed' });
  });

  describe('with a strategy for tenants', () => {
    interface Tenant {
      readonly tenant: string;
    }
    let pools: string[];

    @Injectable({ scope: Scope.REQUEST, durable: true })
    class Pool {
      constructor(@Inject(REQUEST) { tenant }: Tenant) {
        pools.push(tenant);
      }
    }

    @Injectable()
    class Durable {
      constructor(@Inject(Pool) readonly pool: Pool) {}

      @TaskHandler('durable')
      async run() {}
    }

    @Injectable({ scope: Scope.REQUEST })
    class Mixed {
      constructor(
        @Inject(Pool) readonly pool: Pool,
        @Inject(REQUEST) private readonly request: TaskContext & Tenant,
      ) {}

      @TaskHandler('mixed')
      async run({ id }: TaskContext) {
        return [this.request.id === id, this.request.tenant];
      }
    }

    /** @param attach the application's strategy */
    async function bootWith(attach: (id: ContextId, request: TaskContext<Tenant>) => ContextIdResolver): Promise<App> {
      pools = [];
      ContextIdFactory.apply({ attach } as ContextIdStrategy);
      return boot({ providers: [Pool, Durable, Mixed] });
    }

    afterEach(() => ContextIdFactory.apply(undefined as never));

    it('shares a durable provider among the tasks of a tenant', async () => {
      const tenants = new Map<string, ContextId>();
      const app = await bootWith((id, { data: { tenant } }) => {
        const shared = tenants.get(tenant) ?? ContextIdFactory.create();
        tenants.set(tenant, shared);
        const resolve: ContextIdResolverFn = ({ isTreeDurable }) => (isTreeDurable ? shared : id);
        // A field of the task's context stays.
        return { resolve, payload: { tenant, id: 'payload' } };
      });
      for (const [index, tenant] of ['a', 'b', 'a', 'b'].entries()) {
        for (const type of ['durable', 'mixed']) await tasksOf(app).submit(single(type, `${index}`), { tenant });
        await endOf(app, `durable:${index}`);
        expect(await endOf(app, `mixed:${index}`)).toMatchObject({ result: [true, tenant] });
      }
      expect(pools.toSorted()).toEqual(['a', 'b']);
    });

    it('fails an attempt with a sentence if the strategy reads what only an HTTP request has', async () => {
      const app = await bootWith((id, request) => {
        const { headers } = request as unknown as { readonly headers: Record<string, string> };
        return { resolve: () => id, payload: { tenant: headers['x-tenant'] } };
      });
      await tasksOf(app).submit(single('mixed', 'a'), { tenant: 'a' }, { maxAttempts: 1 });
      const { lastError } = (await endOf(app, 'mixed:a'))!;
      expect(lastError!.message).toContain('ContextIdFactory.apply() failed for a task');
    });
  });
});

describe('a handler whose instances come from a factory', () => {
  it('gets one per task when the factory is in request scope, and none from a factory that returns nothing', async () => {
    class Scoped {
      constructor(private readonly request: TaskContext) {}

      @TaskHandler('scoped')
      async run({ id }: TaskContext) {
        return `${this.request.id} ${id}`;
      }
    }
    class Off {
      @TaskHandler('scoped')
      async run() {}
    }
    const scoped = { provide: Scoped, inject: [REQUEST], useFactory: (request: TaskContext) => new Scoped(request) };
    const alias = { provide: class Alias extends Scoped {}, useExisting: Scoped };
    const off = { provide: Off, useFactory: () => undefined };
    const app = await boot({ providers: [scoped, alias, off] });
    await tasksOf(app).submit(single('scoped', 'a'));
    expect(await endOf(app, 'scoped:a')).toMatchObject({ result: 'scoped:a scoped:a' });
  });
});
