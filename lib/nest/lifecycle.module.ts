import { AsyncLocalStorage } from 'node:async_hooks';
import {
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
  type Type,
} from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';

/**
 * Begins work after the boot of the whole application, and ends it before any part is destroyed. So the work finds its
 * dependencies, and nothing begins if the boot fails.
 */
@Injectable()
export class Lifecycle implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #checks: (() => void)[] = [];
  readonly #begins: (() => void | Promise<void>)[] = [];
  readonly #ends: (() => Promise<void>)[] = [];
  readonly #cleanUps: (() => Promise<void>)[] = [];
  readonly #hooks = new BootHooks();
  #hasBooted = false;

  /** Calls `check` when all other parts have booted. If it throws, the boot fails, and nothing begins. */
  beforeBegin(check: () => void): void {
    this.#checks.push(check);
  }

  /**
   * Calls `begin` when the application has booted, after those of earlier calls. Calls it at once if the application has
   * booted.
   *
   * @returns a promise that does not wait for the boot, so that hooks of the application may wait for it
   */
  async afterBoot(begin: () => void | Promise<void>): Promise<void> {
    if (this.#hasBooted) return begin();
    this.#begins.push(begin);
  }

  /** Calls `end` first of all in a shutdown. It may be called twice: see {@link FirstToBootModule}. */
  beforeShutdown(end: () => Promise<void>): void {
    this.#ends.push(end);
  }

  /**
   * Calls `cleanUp` if a hook of any part fails in the boot. Nest itself calls no further hook then, and
   * `createApplicationContext()` returns no application to close. The boot does not wait for it, so its error comes at once.
   */
  afterFailedBoot(cleanUp: () => Promise<void>): void {
    this.#cleanUps.push(cleanUp);
  }

  /** Call this before the hooks of other parts. */
  watchBoot(modules: ModulesContainer): void {
    this.#hooks.watch(modules, () => {
      // The boot fails with its own error, which says what is wrong. A second one, of the clean-up, would hide it.
      for (const cleanUp of this.#cleanUps.splice(0)) cleanUp().catch(() => undefined);
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    for (const check of this.#checks) check();
    // The loop also sees what is added meanwhile.
    for (const begin of this.#begins) await begin();
    this.#hasBooted = true;
    this.#hooks.restore();
  }

  async onModuleDestroy(): Promise<void> {
    this.#hooks.restore();
    await Promise.all(this.#ends.map((end) => end()));
  }
}

/**
 * The last module that Nest boots, and the first one that it destroys.
 *
 * Nest sorts modules by their distance from the root module for all hooks. The root has 0 or 1, and a global module such
 * as GatekeeperModule has the highest distance: it boots first, and is destroyed last. Its own hooks are too late, and
 * Nest has no hook before onModuleDestroy that covers `app.close()`, signals and applications without HTTP.
 */
@Module({ providers: [Lifecycle], exports: [Lifecycle] })
export class LifecycleModule {
  constructor(@Inject(ModulesContainer) modules: ModulesContainer) {
    setDistance(modules, LifecycleModule, -1);
  }
}

@Injectable()
class FirstHooks implements OnModuleInit, OnModuleDestroy {
  constructor(
    @Inject(Lifecycle) private readonly lifecycle: Lifecycle,
    @Inject(ModulesContainer) private readonly modules: ModulesContainer,
  ) {}

  onModuleInit(): void {
    this.lifecycle.watchBoot(this.modules);
  }

  /** Only Nest 10 destroys first what has booted first. */
  onModuleDestroy(): Promise<void> {
    return this.lifecycle.onModuleDestroy();
  }
}

/**
 * The first module that Nest boots: the highest distance comes first. Nest 10 destroys modules in the order in which it boots
 * them, so there it is also the first one that is destroyed.
 */
@Module({ imports: [LifecycleModule], providers: [FirstHooks] })
export class FirstToBootModule {
  constructor(@Inject(ModulesContainer) modules: ModulesContainer) {
    setDistance(modules, FirstToBootModule, Infinity);
  }
}

/** Modules of the highest distance boot first. Takes effect because Nest makes all modules before it sorts them for the first hook. */
export function setDistance(modules: ModulesContainer, type: Type, distance: number): void {
  for (const module of modules.values()) if (module.metatype === type) module.distance = distance;
}

/** The hooks of a boot, each of which may fail it. */
const BOOT_HOOKS = ['onModuleInit', 'onApplicationBootstrap'] as const;

type Hook = (this: unknown, ...args: unknown[]) => unknown;

/**
 * The boot whose hook runs: the caller of a hook that it calls may catch an error, so that does not fail the boot. One for the
 * process, because Node has more work with each promise for each storage that was ever used.
 */
const hookOf = new AsyncLocalStorage<BootHooks>();

/** Wraps the hooks of all instances until the boot has ended, because Nest tells no part that it fails. */
class BootHooks {
  readonly #undos: (() => void)[] = [];

  watch(modules: ModulesContainer, onFailure: () => void): void {
    const failed = (error: unknown): never => {
      this.restore();
      onFailure();
      throw error;
    };
    for (const instance of instancesOf(modules)) for (const name of BOOT_HOOKS) this.#wrap(instance, name, failed);
  }

  restore(): void {
    for (const undo of this.#undos.splice(0)) undo();
  }

  /** A frozen instance keeps its hooks, and its failure stays unnoticed. */
  #wrap(instance: Record<string, unknown>, name: string, failed: (error: unknown) => never): void {
    const hook = instance[name] as Hook | undefined;
    if (typeof hook !== 'function') return;
    const isNested = () => hookOf.getStore() === this;
    const begin = <T>(call: () => Promise<T>) => hookOf.run(this, call);
    const value: Hook = function (...args) {
      if (isNested()) return hook.apply(this, args);
      return begin(async () => hook.apply(this, args)).catch(failed);
    };
    const own = Reflect.getOwnPropertyDescriptor(instance, name);
    const undo = () => (own ? Reflect.defineProperty(instance, name, own) : Reflect.deleteProperty(instance, name));
    if (Reflect.defineProperty(instance, name, { value, configurable: true, writable: true })) this.#undos.push(undo);
  }
}

/** All that Nest calls hooks of. An instance may have several tokens. */
function instancesOf(modules: ModulesContainer): Set<Record<string, unknown>> {
  const wrappers = [...modules.values()].flatMap(({ providers, controllers, injectables, middlewares }) =>
    [providers, controllers, injectables, middlewares].flatMap((part) => [...part.values()]),
  );
  const instances = wrappers.flatMap((wrapper) => [
    wrapper.instance as unknown,
    ...wrapper.getStaticTransientInstances().map((host) => host?.instance as unknown),
  ]);
  return new Set(instances.filter(isObject));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}
