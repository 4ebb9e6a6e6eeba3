import { Global, Module } from '@nestjs/common';
import { Environment } from './environment.js';

@Global()
@Module({
  providers: [{ provide: Environment, useFactory: () => new Environment() }],
  exports: [Environment],
})
export class EnvironmentModule {}
