import {
  Controller,
  Injectable,
  type ModuleMetadata,
  type OnApplicationBootstrap,
  type OnModuleInit,
  type Provider,
  Scope,
} from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  ClusterSingleton,
  GatekeeperModule,
  type GatekeeperOptions,
  GatekeeperService,
  StoreUnavailableError,
  memory,
} from 'nestjs-gatekeeper';
import { bootError, until, useApps } from '../support/apps.js';

/** A store that counts its clients. */
class Clients {
  opened = 0;
  open = 0;
  readonly store: GatekeeperOptions['store'];

  constructor(inner = memory()) {
    this.store = {
      ...inner,
      open: (options) => {
        const store = inner.open(options);
        const close = store.close.bind(store);
        this.opened++;
        this.open++;
        return Object.assign(store, { close: () => (this.open--, close()) });
      },
    };
  }

  /** An application with a gatekeeper on this store. */
  app({ imports = [], ...metadata }: ModuleMetadata = {}): ModuleMetadata {
    const gatekeeper = GatekeeperModule.forRoot({ store: this.store, definitionsDelay: 0, clockTolerance: 10 });
    return { ...metadata, imports: [gatekeeper, ...imports] };
  }
}

const FAULT = new Error('no database');

class FailsInInit implements OnModuleInit {
  onModuleInit() {
    throw FAULT;
  }
}

class FailsInBootstrap implements OnApplicationBootstrap {
  async onApplicationBootstrap() {
    throw FAULT;
  }
}

@Injectable()
class WithoutDuration {
  @ClusterSingleton('no-duration')
  async job(): Promise<string | undefined> {
    return 'ran';
  }
}

class FailingModule extends FailsInBootstrap {}

@Controller()
class FailingController extends FailsInInit {}

@Injectable({ scope: Scope.TRANSIENT })
class FailingTransient extends FailsInInit {}

/** Waits for its store in a hook, and gives up. */
@Injectable()
class Impatient implements OnModuleInit {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  onModuleInit() {
    return this.gatekeeper.ready({ timeout: 50 });
  }
}

describe('an application that is made and never started', () => {
  it('has opened nothing, so that it need not be closed', async () => {
    const clients = new Clients();
    const module = await Test.createTestingModule(clients.app({ providers: [WithoutDuration] })).compile();
    expect(module.get(GatekeeperService).health()).toMatchObject({
      grants: false,
      faults: [{ sentence: expect.stringContaining('opened by start(), in a Nest application by init() or listen()') }],
    });
    await module.close();
    expect(clients.opened).toBe(0);
  });

  it('opens the store with its first call, and closes it', async () => {
    const clients = new Clients();
    const module = await Test.createTestingModule(clients.app()).compile();
    const gatekeeper = module.get(GatekeeperService);
    expect(await gatekeeper.run('import', () => 'imported', { duration: '10s' })).toEqual({
      executed: true,
      value: 'imported',
    });
    expect(clients.open).toBe(1);
    await module.close();
    expect([clients.opened, clients.open]).toEqual([1, 0]);
  });

  it('refuses calls after its close, and opens nothing for them', async () => {
    const clients = new Clients();
    const module = await Test.createTestingModule(clients.app()).compile();
    const gatekeeper = module.get(GatekeeperService);
    await module.close();
    await expect(gatekeeper.history(1)).rejects.toThrow(StoreUnavailableError);
    await expect(gatekeeper.ready()).rejects.toMatchObject({ code: 'not-ready', lack: 'closing' });
    expect(clients.opened).toBe(0);
  });
});

describe('a boot that fails', () => {
  const { start } = useApps();

  /** Does not close the application: `createApplicationContext()` would not have returned it. */
  async function fails(clients: Clients, metadata: ModuleMetadata): Promise<Error> {
    const module = await Test.createTestingModule(clients.app(metadata)).compile();
    return bootError(module.init());
  }

  it.each<[string, ModuleMetadata]>([
    ['onModuleInit of a provider', { providers: [FailsInInit] }],
    ['onApplicationBootstrap of a provider', { providers: [FailsInBootstrap] }],
    ['a hook of a module', { imports: [FailingModule] }],
    ['a hook of a controller', { controllers: [FailingController] }],
    ['a hook of a transient provider', { providers: [FailingTransient, usesIt(FailingTransient)] }],
    ['a hook of a value', { providers: [{ provide: 'VALUE', useValue: new FailsInInit() }] }],
  ])('in %s closes the store, with its own error', async (_what, metadata) => {
    const clients = new Clients();
    expect(await fails(clients, metadata)).toBe(FAULT);
    await until(() => clients.open === 0);
    expect(clients.opened).toBe(1);
  });

  it('because a job of it can not run closes the store', async () => {
    const clients = new Clients();
    const error = await fails(clients, { providers: [WithoutDuration] });
    expect(error.message).toContain('no-duration');
    await until(() => clients.open === 0);
  });

  it('because its store is not ready in time closes the store', async () => {
    const away = new Clients();
    const open = away.store!.open.bind(away.store);
    away.store!.open = (options) =>
      Object.assign(open(options), { health: () => ({ connected: false, members: 0, quorum: 0, problem: 'away' }) });
    expect(await fails(away, { providers: [Impatient] })).toMatchObject({ code: 'not-ready', lack: 'store' });
    await until(() => away.open === 0);
  });

  it('leaves the hooks of instances as they were, so that the next application boots with them', async () => {
    const value = { fault: FAULT as Error | undefined, onModuleInit() { if (this.fault) throw this.fault; } }; // prettier-ignore
    const { onModuleInit } = value;
    const clients = new Clients();
    await fails(clients, { providers: [{ provide: 'VALUE', useValue: value }] });
    expect(value.onModuleInit).toBe(onModuleInit);
    value.fault = undefined;
    const app = await start(clients.app({ providers: [{ provide: 'VALUE', useValue: value }] }));
    expect(value.onModuleInit).toBe(onModuleInit);
    expect(app.get(GatekeeperService).health().grants).toBe(true);
  });

  it('is not one in which a hook catches the error of another hook that it calls', async () => {
    const other = new FailsInInit();
    const caller = {
      caught: undefined as unknown,
      onModuleInit() {
        try {
          other.onModuleInit();
        } catch (error) {
          this.caught = error;
        }
        other.onModuleInit = () => undefined as never;
      },
    };
    const clients = new Clients();
    // The first of two values in one module is called first.
    const providers: Provider[] = [
      { provide: 'CALLER', useValue: caller },
      { provide: 'OTHER', useValue: other },
    ];
    const app = await start(clients.app({ providers }));
    expect(caller.caught).toBe(FAULT);
    expect(app.get(GatekeeperService).health().grants).toBe(true);
    expect(clients.open).toBe(1);
  });
});

/** A provider that gets another one. */
function usesIt(type: typeof FailingTransient): Provider {
  return { provide: 'USER', useFactory: (it: unknown) => ({ it }), inject: [type] };
}
