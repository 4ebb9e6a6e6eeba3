import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Environment } from './environment.js';
import { Metrics } from './metrics.js';

/** Gives all modules of one node its settings and its metrics. */
@Global()
@Module({ providers: [Metrics], exports: [Metrics, Environment] })
export class EnvironmentModule {
  static of(environment: Environment): DynamicModule {
    return { module: EnvironmentModule, providers: [{ provide: Environment, useValue: environment }] };
  }
}
