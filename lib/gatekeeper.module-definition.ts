import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { GatekeeperOptions } from './gatekeeper/index.js';

/** What Nest must know before it can ask an asynchronous factory for the rest. */
export interface GatekeeperModuleExtras {
  /** Whether every module can inject GatekeeperService and use @ClusterSingleton without importing. Default true. */
  readonly isGlobal?: boolean;
}

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN, OPTIONS_TYPE, ASYNC_OPTIONS_TYPE } =
  new ConfigurableModuleBuilder<GatekeeperOptions>({ moduleName: 'Gatekeeper' })
    .setClassMethodName('forRoot')
    .setFactoryMethodName('createGatekeeperOptions')
    .setExtras<GatekeeperModuleExtras>({ isGlobal: true }, (definition, { isGlobal }) => ({
      ...definition,
      global: isGlobal,
    }))
    .build();
