import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  ClusterSingleton,
  GatekeeperModule,
  GatekeeperService,
  currentPermit,
  hazelcast,
  memory,
} from 'nestjs-gatekeeper';
import { startHazelcast } from 'nestjs-gatekeeper/testing';

@Injectable()
class Jobs {
  @ClusterSingleton('pack-check', '10m')
  async job(): Promise<number> {
    return currentPermit().token;
  }
}

@Module({
  imports: [GatekeeperModule.forRoot({ store: memory(), definitionsDelay: 0, stateDump: '1h' })],
  providers: [Jobs],
})
class AppModule {}

export const notCalled = [() => hazelcast({ clusterName: 'dev' }), () => startHazelcast()];

export async function check(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  const permit = await app.get(GatekeeperService).acquire('pack-check', { timeout: '5s' });
  const token = await app.get(Jobs).job();
  if (token !== permit.token) throw new Error(`the guarded run had token ${token}, not ${permit.token}`);
  await permit.release();
  await app.close();
}

check().then(() => console.log('the packed module works'));
