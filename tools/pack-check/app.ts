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
import { openTelemetry } from 'nestjs-gatekeeper/opentelemetry';
import { postgres, postgresHistoryArchive } from 'nestjs-gatekeeper/postgres';
import { redis } from 'nestjs-gatekeeper/redis';
import { startHazelcast } from 'nestjs-gatekeeper/testing';

@Injectable()
class Jobs {
  @ClusterSingleton('pack-check', '10m')
  async job(): Promise<number | undefined> {
    return currentPermit().token;
  }
}

@Module({
  imports: [
    GatekeeperModule.forRoot({ store: memory(), definitionsDelay: 0, stateDump: '1h', telemetry: openTelemetry() }),
  ],
  providers: [Jobs],
})
class AppModule {}

const connectionString = 'postgres://127.0.0.1/app';
export const notCalled = [
  () => hazelcast({ clusterName: 'dev' }),
  () => startHazelcast(),
  () => postgres({ connectionString }),
  () => postgresHistoryArchive({ connectionString }),
  () => redis({ url: 'redis://127.0.0.1' }),
];

export async function check(): Promise<void> {
  await checkOnlyCopy();
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  const permit = await app.get(GatekeeperService).acquire('pack-check', { timeout: '5s' });
  const token = await app.get(Jobs).job();
  if (token !== permit.token) throw new Error(`the guarded run had token ${token}, not ${permit.token}`);
  await permit.release();
  await app.close();
}

/** Two copies in one process would have two of each class and symbol. */
async function checkOnlyCopy(): Promise<void> {
  const imported = await import('nestjs-gatekeeper');
  if (imported.GatekeeperModule !== GatekeeperModule) throw new Error('import() and require() give two copies');
}

check().then(() => console.log('the packed module works'));
