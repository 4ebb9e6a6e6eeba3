import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { type GatekeeperOptions, parseGatekeeperOptions } from '../gatekeeper/gatekeeper-options.js';
import { Gatekeeper } from '../gatekeeper/gatekeeper.js';
import { partsOf } from '../gatekeeper/parts.js';
import type { RunNowOptions, RunNowTarget } from '../permits/by-hand/run-now.js';
import type { RunNowStatus } from '../permits/by-hand/run-status.js';

/** The {@link Gatekeeper} of a Nest application. It starts and closes with the application. Inject it by this class. */
@Injectable()
export class GatekeeperService extends Gatekeeper implements OnModuleInit, OnModuleDestroy, BeforeApplicationShutdown {
  /** @param environment replaces the machine's clocks and randomness in tests */
  constructor(options: GatekeeperOptions, environment?: ConstructorParameters<typeof Gatekeeper>[2]) {
    super(parseGatekeeperOptions(options), new Logger('Gatekeeper'), environment);
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

  /** Starts the gatekeeper when Nest initialises its modules. */
  onModuleInit(): Promise<void> {
    return this.start();
  }

  /** First step of the shutdown: no new run starts, and current runs may finish while their dependencies still work. */
  onModuleDestroy(): Promise<void> {
    return this.drain();
  }

  /** Last step of the shutdown: releases permits and closes the store, after the runs had `shutdownGrace` to finish. */
  beforeApplicationShutdown(): Promise<void> {
    return this.close();
  }
}
