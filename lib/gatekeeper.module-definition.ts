import { ConfigurableModuleBuilder } from '@nestjs/common';
import { type ConsoleOptions, consoleParts } from './console/index.js';
import type { GatekeeperOptions } from './gatekeeper/index.js';

/** Options that Nest needs before it calls the factory of `forRootAsync`. */
export interface GatekeeperModuleExtras {
  /** Whether all modules can inject GatekeeperService and use `@ClusterSingleton` without an import. Default true. */
  readonly isGlobal?: boolean;
  /**
   * Mounts the console: page, API and event stream. Default: no console. With `forRootAsync`, `path` must be given here,
   * because Nest mounts the controllers before it calls the factory. The factory may return the other options of the
   * console, as `console`.
   */
  readonly console?: ConsoleOptions;
}

/** Options that a factory of `forRootAsync` returns. */
export interface GatekeeperModuleOptions extends GatekeeperOptions {
  /**
   * Options of the console that only the factory knows, such as tokens. They override those of the static `console`,
   * which must be given too (`{}` is enough).
   */
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
