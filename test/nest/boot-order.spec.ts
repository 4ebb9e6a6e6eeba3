import { Injectable, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import {
  AllocatedResources,
  type AllocationChange,
  AllocationService,
  ClusterCron,
  ClusterService,
  GatekeeperModule,
  GatekeeperService,
  OnLeadershipGained,
  OnLeadershipLost,
  type StoreDefinition,
  TaskHandler,
  TasksService,
  memory,
  single,
} from 'nestjs-gatekeeper';
import { bootError, until, useApps } from '../support/apps.js';
import { refusedNaming } from '../support/refused.js';

const BEGINS = ['leads', 'owns', 'task', 'tick'];
const EVERY_SECOND = '* * * * * *';

/** Notes what has begun in an application. */
@Injectable()
class Worker {
  readonly log = new Set<string>();

  @OnLeadershipGained()
  leads() {
    this.log.add('leads');
  }

  @AllocatedResources('queues')
  owns(_owned: unknown, { added }: AllocationChange) {
    if (added.length > 0) this.log.add('owns');
  }

  @TaskHandler('mail')
  async mail() {
    this.log.add('task');
  }

  @ClusterCron(EVERY_SECOND)
  async tick() {
    this.log.add('tick');
  }
}

/** A part of the application whose bootstrap takes long, such as migrations of a database. */
class Migrations implements OnApplicationBootstrap {
  isWaiting = false;
  end!: (error?: Error) => void;

  onApplicationBootstrap() {
    this.isWaiting = true;
    return new Promise<void>((resolve, reject) => (this.end = (error) => (error ? reject(error) : resolve())));
  }
}

describe('an application that has not booted', () => {
  const { start, boot } = useApps();

  function module(worker: Worker, store: StoreDefinition, migrations?: Migrations) {
    const groups = [{ name: 'queues', resources: () => ['berlin'], id: (id: string) => id }];
    const options = { leadership: { enabled: true }, allocation: { groups }, membership: { lease: 200 } };
    const gatekeeper = GatekeeperModule.forRoot({ store, definitionsDelay: 0, clockTolerance: 20, ...options });
    const providers = [worker, migrations].flatMap((value) => value ?? []);
    return {
      imports: [gatekeeper],
      providers: providers.map((useValue) => ({ provide: useValue.constructor, useValue })),
    };
  }

  /** Resolves when all has had the time to begin in an application that has booted. */
  async function timeToBegin() {
    const [worker, store] = [new Worker(), memory()];
    const app = await start(module(worker, store));
    await app.get(TasksService).submit(single('mail', 'a'), 1);
    await until(() => worker.log.size === BEGINS.length);
  }

  it('does not lead, own, handle tasks or run schedules', async () => {
    const [worker, store, migrations] = [new Worker(), memory(), new Migrations()];
    const other = await boot({}, {}, store);
    await other.get(TasksService).submit(single('mail', 'a'), 1);
    const booting = start(module(worker, store, migrations));
    await until(() => migrations.isWaiting);
    await timeToBegin();
    expect([...worker.log]).toEqual([]);
    migrations.end();
    await booting;
    await until(() => worker.log.size === BEGINS.length);
  });

  it('does nothing of it either when its boot has failed', async () => {
    const [worker, store, migrations] = [new Worker(), memory(), new Migrations()];
    const other = await boot({}, {}, store);
    await other.get(TasksService).submit(single('mail', 'a'), 1);
    const booting = bootError(start(module(worker, store, migrations)));
    await until(() => migrations.isWaiting);
    migrations.end(new Error('no database'));
    expect((await booting).message).toBe('no database');
    await timeToBegin();
    expect([...worker.log]).toEqual([]);
  });
});

@Injectable()
class Listener {
  readonly log: string[] = [];

  @OnLeadershipGained()
  gained() {
    this.log.push('gained');
  }

  @OnLeadershipLost()
  lost() {
    this.log.push('lost');
  }
}

type Phase = 'constructor' | 'onModuleInit' | 'onApplicationBootstrap';

/** Calls initialize() in one phase of the boot, and waits for it where Nest would wait. */
function early(phase: Phase) {
  @Injectable()
  class Early implements OnModuleInit, OnApplicationBootstrap {
    activeScopes?: readonly string[];

    constructor(
      private readonly cluster: ClusterService,
      private readonly gatekeeper: GatekeeperService,
    ) {
      void this.#call('constructor');
    }

    onModuleInit() {
      return this.#call('onModuleInit');
    }

    async onApplicationBootstrap() {
      await this.#call('onApplicationBootstrap');
      this.activeScopes = this.gatekeeper.cluster.activeScopes;
    }

    async #call(reached: Phase) {
      if (reached === phase) await this.cluster.initialize();
    }
  }
  return Early;
}

describe('initialize() of ClusterService before the end of the boot', () => {
  const { boot } = useApps();

  it.each<Phase>(['constructor', 'onModuleInit', 'onApplicationBootstrap'])(
    'in %s takes effect when the application has booted: callbacks hear of the term, and nothing warns',
    async (phase) => {
      const Early = early(phase);
      const app = await boot({ providers: [Early, Listener] });
      await until(() => app.get(ClusterService).isLeader());
      await until(() => app.get(Listener).log.length > 0);
      expect(app.get(Early).activeScopes).toEqual([]);
      await app.app.close();
      expect(app.get(Listener).log).toEqual(['gained', 'lost']);
      expect(app.log.filter((line) => line.startsWith('warn'))).toEqual([]);
    },
  );
});

const QUEUES = { resources: () => ['berlin'], id: String };

/** Adds the group that `Worker` follows in one phase of the boot. */
function adding(phase: 'onModuleInit' | 'onApplicationBootstrap') {
  @Injectable()
  class Adding implements OnModuleInit, OnApplicationBootstrap {
    constructor(private readonly allocation: AllocationService) {}

    onModuleInit() {
      if (phase === 'onModuleInit') this.allocation.group('queues', QUEUES);
    }

    onApplicationBootstrap() {
      if (phase === 'onApplicationBootstrap') this.allocation.group('queues', QUEUES);
    }
  }
  return Adding;
}

@Injectable()
class Follower {
  readonly owned: string[] = [];

  @AllocatedResources('queues')
  follow(owned: readonly { readonly id: string }[]) {
    this.owned.push(...owned.map(({ id }) => id));
  }
}

describe('a group that a method follows', () => {
  const { boot } = useApps();

  it.each(['onModuleInit', 'onApplicationBootstrap'] as const)('may be added in %s', async (phase) => {
    const app = await boot(
      { providers: [adding(phase), Follower] },
      { membership: { lease: 200 }, clockTolerance: 20 },
    );
    await until(() => app.get(Follower).owned.length > 0);
    expect(app.get(Follower).owned).toEqual(['berlin']);
  });

  it('must be there at the end of the boot: else the application does not boot, and nothing begins', async () => {
    let gatekeeper!: GatekeeperService;
    const seen = {
      provide: 'seen',
      useFactory: (each: GatekeeperService) => (gatekeeper = each),
      inject: [GatekeeperService],
    };
    const error = await bootError(boot({ providers: [Follower, seen] }, { leadership: { enabled: true } }));
    expect(error).toEqual(refusedNaming(/^Follower\.follow: "queues" .*\(it has none\)/));
    expect(gatekeeper.cluster.activeScopes).toEqual([]);
  });
});
