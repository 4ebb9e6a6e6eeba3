import { type DynamicModule, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { EarlyDrain, GatekeeperService } from '../../nest/gatekeeper.service.js';
import {
  AllocationExplorer,
  AllocationService,
  ClusterService,
  DecoratedMethods,
  FirstToBootModule,
  GatekeeperHealthIndicator,
  GuardedMethodsExplorer,
  LeadershipExplorer,
  LifecycleModule,
  TasksExplorer,
  TasksService,
} from '../../nest/index.js';
import { withAliases } from '../../nest/shared-services.js';
import { TestGatekeeper, type TestGatekeeperOptions } from './test-gatekeeper.js';

/** All that GatekeeperModule exports, but the gatekeeper. */
const SERVICES = [ClusterService, AllocationService, TasksService, GatekeeperHealthIndicator, GuardedMethodsExplorer];
const IMPORTS = [DiscoveryModule, LifecycleModule, FirstToBootModule];

/**
 * Replaces GatekeeperModule in unit tests. Services get a {@link TestGatekeeper} as their GatekeeperService, and
 * guarded methods ask it. The test gets it with `module.get(TestGatekeeper)`.
 *
 * ```ts
 * const module = await Test.createTestingModule({
 *   imports: [GatekeeperTestingModule.forRoot()],
 *   providers: [Jobs],
 * }).compile();
 * ```
 */
@Module({})
export class GatekeeperTestingModule {
  /**
   * Replaces GatekeeperModule by a {@link TestGatekeeper}. No store is needed.
   *
   * @param options group and name of the node; see {@link TestGatekeeperOptions}
   */
  static forRoot(options: TestGatekeeperOptions = {}): DynamicModule {
    return withAliases({
      module: GatekeeperTestingModule,
      global: true,
      imports: IMPORTS,
      providers: [
        { provide: TestGatekeeper, useFactory: () => new TestGatekeeper(options) },
        { provide: GatekeeperService, useExisting: TestGatekeeper },
        EarlyDrain,
        DecoratedMethods,
        ...SERVICES,
        AllocationExplorer,
      ],
      exports: [TestGatekeeper, GatekeeperService, ...SERVICES],
    });
  }

  /**
   * Replaces GatekeeperModule by a real gatekeeper: a node of `TestTasks`. Handlers of tasks and methods with `@ClusterCron`
   * run on it, from `module.init()` on. It closes with the module.
   *
   * @param node made with `TestTasks.node()`
   */
  static forNode(node: GatekeeperService): DynamicModule {
    return withAliases({
      module: GatekeeperTestingModule,
      global: true,
      imports: IMPORTS,
      providers: [
        ...SERVICES,
        { provide: GatekeeperService, useValue: node },
        EarlyDrain,
        DecoratedMethods,
        LeadershipExplorer,
        AllocationExplorer,
        TasksExplorer,
      ],
      exports: [GatekeeperService, ...SERVICES],
    });
  }
}
