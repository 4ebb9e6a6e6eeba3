import { type DynamicModule, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { type GatekeeperOptions } from './gatekeeper/index.js';
import { InvalidOptionsError } from './core/decision/index.js';
import { NO_OPTIONS } from './nest/messages.js';
import { EarlyDrain, GatekeeperService, ScopeCheck } from './nest/gatekeeper.service.js';
import {
  ConfigurableModuleClass,
  type GatekeeperModuleOptions,
  MODULE_OPTIONS_TOKEN,
  OPTIONS_TYPE,
} from './gatekeeper.module-definition.js';
import {
  AllocationExplorer,
  AllocationService,
  ClusterService,
  DecoratedMethods,
  FiringsModule,
  FirstToBootModule,
  GatekeeperHealthIndicator,
  GuardedMethodsExplorer,
  LeadershipExplorer,
  LifecycleModule,
  TasksExplorer,
  TasksService,
} from './nest/index.js';

/**
 * Registers the gatekeeper: `GatekeeperModule.forRoot({ store: hazelcast({...}), definitions: [...] })`, or
 * `forRootAsync` with `useFactory`, `useClass` or `useExisting` (a class with `createGatekeeperOptions()`).
 *
 * @throws InvalidOptionsError at boot; it lists every fault of the options, or of the guarded methods
 */
@Module({
  imports: [DiscoveryModule, LifecycleModule, FirstToBootModule, FiringsModule],
  providers: [
    {
      provide: GatekeeperService,
      useFactory: (options: GatekeeperModuleOptions | undefined) => new GatekeeperService(withoutConsole(options)),
      inject: [MODULE_OPTIONS_TOKEN],
    },
    ScopeCheck,
    EarlyDrain,
    ClusterService,
    AllocationService,
    TasksService,
    GatekeeperHealthIndicator,
    DecoratedMethods,
    GuardedMethodsExplorer,
    LeadershipExplorer,
    AllocationExplorer,
    // The last one: handlers may need the others.
    TasksExplorer,
  ],
  exports: [
    GatekeeperService,
    ClusterService,
    AllocationService,
    TasksService,
    GatekeeperHealthIndicator,
    GuardedMethodsExplorer,
  ],
})
export class GatekeeperModule extends ConfigurableModuleClass {
  /**
   * Registers the gatekeeper with these options.
   *
   * @param options of the gatekeeper, with `isGlobal` and `console`
   * @throws InvalidOptionsError without options; those that are wrong are reported at boot
   */
  static override forRoot(options: typeof OPTIONS_TYPE): DynamicModule {
    // Nest would read a field of undefined.
    if (!options) throw new InvalidOptionsError('GatekeeperModule', [NO_OPTIONS]);
    return super.forRoot(options);
  }
}

/** The console reads the option `console` itself. The gatekeeper would refuse it as unknown. */
function withoutConsole(options: GatekeeperModuleOptions | undefined): GatekeeperOptions {
  if (!options) throw new InvalidOptionsError('GatekeeperModule', [NO_OPTIONS]);
  return Object.fromEntries(
    Object.entries(options).filter(([name]) => name !== 'console'),
  ) as unknown as GatekeeperOptions;
}
