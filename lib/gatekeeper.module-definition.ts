import { ConfigurableModuleBuilder } from '@nestjs/common';
import { type ConsoleOptions, consoleParts } from './console/index.js';
import type { GatekeeperOptions } from './gatekeeper/index.js';

/** Options that Nest needs before it can ask an asynchronous factory for the rest. */
export interface GatekeeperModuleExtras {
  /** Whether every module can inject GatekeeperService and use @ClusterSingleton without importing. Default true. */
  readonly isGlobal?: boolean;
  /**
   * Mounts the console: page, API and event stream. Absent: nothing is mounted. With `forRootAsync` path and guards
   * stand here; what the factory gives as `console` is merged over the rest.
   */
  readonly console?: ConsoleOptions;
}

/** Options that a factory of `forRootAsync` returns. */
export interface GatekeeperModuleOptions extends GatekeeperOptions {
  /** Added to the static `console`, which must be there: secrets that stand in a configuration, say. */
  readonly console?: ConsoleOptions;
}

const optionsInjectionToken = 'GATEKEEPER_MODULE_OPTIONS';

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN, OPTIONS_TYPE, ASYNC_OPTIONS_TYPE } =
  new ConfigurableModuleBuilder<GatekeeperModuleOptions>({ moduleName: 'Gatekeeper', optionsInjectionToken })
    .setClassMethodName('forRoot')
    .setFactoryMethodName('createGatekeeperOptions')
    .setExtras<GatekeeperModuleExtras>({ isGlobal: true, console: undefined }, (definition, { isGlobal, console }) => {
      const {
        imports = [],
        controllers = [],
        providers = [],
      } = consoleParts(definition.module, optionsInjectionToken, console);
      return {
        ...definition,
        global: isGlobal,
        imports: [...(definition.imports ?? []), ...imports],
        controllers,
        providers: [...(definition.providers ?? []), ...providers],
      };
    })
    .build();
