import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { type GatekeeperOptions, parseGatekeeperOptions } from '../gatekeeper/gatekeeper-options.js';
import { Gatekeeper } from '../gatekeeper/gatekeeper.js';

/** The {@link Gatekeeper} of a Nest application. It starts and closes with the application. Inject it by this class. */
@Injectable()
export class GatekeeperService extends Gatekeeper implements OnModuleInit, OnModuleDestroy, BeforeApplicationShutdown {
  /** @param environment replaces the machine's clocks and randomness in tests */
  constructor(options: GatekeeperOptions, environment?: ConstructorParameters<typeof Gatekeeper>[2]) {
    super(parseGatekeeperOptions(options), new Logger('Gatekeeper'), environment);
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
