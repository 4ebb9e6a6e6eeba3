import { ConfigurableModuleBuilder, type DynamicModule, type Provider } from '@nestjs/common';
import type { ConsoleOptions } from './console/index.js';
import { InvalidOptionsError } from './core/decision/index.js';
import type { GatekeeperOptions } from './gatekeeper/index.js';
import { withAliases } from './nest/shared-services.js';

/** Options that Nest needs before it calls the factory of `forRootAsync`. */
export interface GatekeeperModuleExtras {
  /**
   * Whether all modules can inject GatekeeperService and use `@ClusterSingleton` without an import.
   *
   * @defaultValue true
   */
  readonly isGlobal?: boolean;
  /**
   * Mounts the console: page, API and event stream. See docs/http-api.md. With `forRootAsync` it must be given beside
   * the factory, `{}` is enough, because Nest loads modules before it calls the factory. The factory may return options of the
   * console, as `console`.
   *
   * @defaultValue none
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

/** Without a static `console` the factory must not give one: then Nest can no longer load it. */
const NO_CONSOLE: Provider = {
  provide: Symbol('no console'),
  useFactory: ({ console }: GatekeeperModuleOptions) => {
    if (console === undefined) return;
    throw new InvalidOptionsError("GatekeeperModule's options", [
      'console: only the factory gives it, but Nest loads modules before it calls the factory: give forRootAsync itself console: {}, too',
    ]);
  },
  inject: [optionsInjectionToken],
};

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN, OPTIONS_TYPE, ASYNC_OPTIONS_TYPE } =
  new ConfigurableModuleBuilder<GatekeeperModuleOptions>({ moduleName: 'Gatekeeper', optionsInjectionToken })
    .setClassMethodName('forRoot')
    .setFactoryMethodName('createGatekeeperOptions')
    .setExtras<GatekeeperModuleExtras>({ isGlobal: true, console: undefined }, (definition, { isGlobal, console }) =>
      console === undefined
        ? withAliases({ ...definition, global: isGlobal, providers: [...(definition.providers ?? []), NO_CONSOLE] })
        : withConsole({ ...definition, global: isGlobal }, console),
    )
    .build();

function withConsole(definition: DynamicModule, options: ConsoleOptions): DynamicModule {
  const gatekeeper = withAliases({
    ...definition,
    imports: [...(definition.imports ?? [])],
    exports: [...(definition.exports ?? []), optionsInjectionToken],
  });
  gatekeeper.imports!.push(loadConsole(options, gatekeeper));
  return gatekeeper;
}

/** An application without a console does not load it: it is a fifth of the code. */
function loadConsole(options: ConsoleOptions, gatekeeper: DynamicModule): Promise<DynamicModule> {
  // A global module must not be imported: a copy that the application made of it would be a second gatekeeper.
  const imports = gatekeeper.global ? [] : [gatekeeper];
  return import('./console/index.js').then(({ ConsoleModule }) =>
    ConsoleModule.register(options, optionsInjectionToken, imports),
  );
}
