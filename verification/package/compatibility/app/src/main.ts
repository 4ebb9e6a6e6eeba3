import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { GatekeeperService } from 'nestjs-gatekeeper';
import { AppModule } from './app.module.js';
import { Jobs } from './jobs.js';
import { createAdapter } from './platform.js';

/**
 * Starts and closes the application as a server, and again as a worker without HTTP. In between it runs a job under a
 * permit and asks the console, since not every runtime has a test runner.
 */
async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule, createAdapter(), { logger: ['error', 'warn'] });
  await app.listen(0, '127.0.0.1');
  expect('the token of a run', ((await app.get(Jobs).nightlyExport()) ?? 0) > 0);
  const { executed } = await app.get(GatekeeperService).run('by-hand', async () => 'done', { duration: '10s' });
  expect('a run by hand', executed);
  const headers = { authorization: 'Bearer token-of-ann-0123456789' };
  const answer = await fetch(`${await app.getUrl()}/gatekeeper/api/session`, { headers });
  expect('the console', answer.ok);
  expect('the health check', (await fetch(`${await app.getUrl()}/health/ready`)).ok);
  await app.close();
  const worker = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] });
  await worker.close();
}

function expect(what: string, isThere: boolean): void {
  if (!isThere) throw new Error(`${what} is missing`);
}

void main().then(() => console.log('started and closed'));
