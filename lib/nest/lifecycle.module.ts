import {
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
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

  /** Calls `end` first of all in a shutdown. It may be called twice: see {@link FirstOnNest10Module}. */
  beforeShutdown(end: () => Promise<void>): void {
    this.#ends.push(end);
  }

  async onApplicationBootstrap(): Promise<void> {
    for (const check of this.#checks) check();
    // The loop also sees what is added meanwhile.
    for (const begin of this.#begins) await begin();
    this.#hasBooted = true;
  }

  async onModuleDestroy(): Promise<void> {
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
class EndOnNest10 implements OnModuleDestroy {
  constructor(@Inject(Lifecycle) private readonly lifecycle: Lifecycle) {}

  onModuleDestroy(): Promise<void> {
    return this.lifecycle.onModuleDestroy();
  }
}

/** Nest 10 destroys modules in the order in which it boots them. There the highest distance comes first. */
@Module({ imports: [LifecycleModule], providers: [EndOnNest10] })
export class FirstOnNest10Module {
  constructor(@Inject(ModulesContainer) modules: ModulesContainer) {
    setDistance(modules, FirstOnNest10Module, Infinity);
  }
}

/** Modules of the highest distance boot first. Takes effect because Nest makes all modules before it sorts them for the first hook. */
export function setDistance(modules: ModulesContainer, type: Type, distance: number): void {
  for (const module of modules.values()) if (module.metatype === type) module.distance = distance;
}
