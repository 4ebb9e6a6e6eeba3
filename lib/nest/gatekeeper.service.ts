import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Deadline } from '../core/async/deadline.js';
import { InvalidOptionsError } from '../core/decision/index.js';
import { type GatekeeperOptions, parseGatekeeperOptions } from '../gatekeeper/gatekeeper-options.js';
import { Gatekeeper } from '../gatekeeper/gatekeeper.js';
import { isMock, partsOf } from '../gatekeeper/parts.js';
import { endsWithoutShutdown, shutdownTime } from '../gatekeeper/process.js';
import type { RunNowOptions, RunNowTarget } from '../operate/run-now/run-now.js';
import type { RunNowStatus } from '../operate/run-now/answers.js';
import { NO_SHUTDOWN_HOOKS, REQUEST_SCOPED_OPTIONS } from './messages.js';
import { serveGuardedMethods } from './guarded-call.js';
import { Lifecycle } from './lifecycle.module.js';
import { SharedService } from './shared-services.js';

/** ms after the boot. Applications may call `enableShutdownHooks()` after `listen()`. */
const HOOKS_BY = 5000;

/** The {@link Gatekeeper} of a Nest application. It starts and closes with the application. Inject it by this class. */
@Injectable()
@SharedService('GatekeeperService')
export class GatekeeperService
  extends Gatekeeper
  implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown
{
  readonly #shutdownGrace: number;
  readonly #outlivesProcess: boolean;
  #looksForHooks = false;
  readonly #logger = new Logger('Gatekeeper');
  #grace?: Deadline;

  /** @param environment replaces the machine's clocks and randomness in tests */
  constructor(options: GatekeeperOptions, environment?: ConstructorParameters<typeof Gatekeeper>[2]) {
    const settings = parseGatekeeperOptions(options);
    super(settings, new Logger('Gatekeeper'), environment);
    this.#shutdownGrace = settings.shutdownGrace;
    this.#outlivesProcess = settings.store.isOwn !== true;
    serveGuardedMethods(this);
  }

  /**
   * Runs a job of `@ClusterSingleton` now, on a node that may run it: the first that gets a permit takes it. Waits until
   * the run has ended, or until it is clear that no node takes it, after at most a minute. The audit log and the history
   * show who asked.
   *
   * @param target name of the semaphore, or `{ semaphore, job }` if it has several jobs
   * @param options.by the author; default: this node's acquirer name
   * @param options.reason the audit log shows it
   * @param options.timeout how long to wait for the end, ms or text; 0: only ask. Default: no limit
   * @returns what became of it; `sentence` says it for people
   * @throws CannotRunError if no living node may run it now: paused, no node has it or matches, or it needs arguments
   * @throws RunRequestedError if it was asked for a moment ago, and no node has taken it yet
   * @throws UnknownSemaphoreError, InvalidOptionsError, ReservedNameError
   * @throws StoreUnavailableError or UnknownOutcomeError if the store gives no clear answer
   */
  async runNow(target: RunNowTarget, options?: RunNowOptions): Promise<RunNowStatus> {
    return partsOf(this).runNow.run(target, options);
  }

  /** Starts the gatekeeper when Nest initialises its modules. Nest calls this once per token of the instance. */
  onModuleInit(): Promise<void> {
    return this.start();
  }

  /** Warns if a signal would end the process without a shutdown, unless the permits end with the process. */
  onApplicationBootstrap(): void {
    if (this.#looksForHooks || !this.#outlivesProcess) return;
    this.#looksForHooks = true;
    const { context, directory } = partsOf(this);
    context.timers.set(context.nodeClock.monotonic() + HOOKS_BY, () => {
      if (context.isClosing() || !endsWithoutShutdown()) return;
      const longest = Math.max(0, ...directory.declared.all.map(({ duration }) => duration));
      this.#logger.warn(NO_SHUTDOWN_HOOKS(longest));
    });
  }

  /**
   * First step of the shutdown: no new run starts, and current runs may finish. The modules of this package call it
   * before any part of the application is destroyed, so that dependencies of the runs still work.
   */
  onModuleDestroy(): Promise<void> {
    return this.drain();
  }

  /** See `Gatekeeper`. The one `shutdownGrace` begins with the first call. */
  override drain(): Promise<void> {
    this.#grace ??= new Deadline(partsOf(this).context.timers, shutdownTime(this.#shutdownGrace).grace);
    return super.drain();
  }

  /**
   * Releases permits and closes the store, unless calls of the application still hold permits. These may be requests:
   * Nest waits for them after this hook. So the close then comes after them, or when `shutdownGrace` is over.
   */
  async beforeApplicationShutdown(): Promise<void> {
    const { directory, context } = partsOf(this);
    const leases = [...directory.inUse.values()].flatMap(({ heldLeases }) => heldLeases.leases);
    if (!leases.some(({ users }) => users.size > 0)) return this.close();
    await this.drain();
    // close() ends this timer. All its callers get one promise, so onApplicationShutdown() passes an error on.
    context.timers.set(this.#grace!.until, () => void this.close().catch(() => undefined));
  }

  /** Last step of the shutdown: releases permits and closes the store. */
  onApplicationShutdown(): Promise<void> {
    return this.close();
  }
}

/**
 * Drains first of all in a shutdown, and closes after a failed boot. A provider of its own, because tests override
 * GatekeeperService.
 */
@Injectable()
export class EarlyDrain {
  constructor(@Inject(Lifecycle) lifecycle: Lifecycle, @Inject(GatekeeperService) gatekeeper: Gatekeeper) {
    if (isMock(gatekeeper)) return;
    lifecycle.beforeShutdown(() => gatekeeper.drain());
    lifecycle.afterFailedBoot(() => gatekeeper.close());
  }
}

/**
 * Refuses a gatekeeper in request scope. Does not inject it: then it would be in request scope too, as all other parts
 * are, and Nest would not call its hook.
 */
@Injectable()
export class ScopeCheck implements OnModuleInit {
  constructor(@Inject(DiscoveryService) private readonly discovery: DiscoveryService) {}

  /** @throws InvalidOptionsError */
  onModuleInit(): void {
    const wrappers = this.discovery.getProviders().filter(({ token }) => token === GatekeeperService);
    if (wrappers.every((wrapper) => wrapper.isDependencyTreeStatic())) return;
    throw new InvalidOptionsError('GatekeeperModule', [REQUEST_SCOPED_OPTIONS]);
  }
}
