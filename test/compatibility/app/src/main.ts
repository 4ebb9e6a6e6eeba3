import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { createAdapter } from './platform.js';

/** Starts and closes the application as a server, and again as a worker without HTTP. */
async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule, createAdapter(), { logger: ['error', 'warn'] });
  await app.listen(0, '127.0.0.1');
  await app.close();
  const worker = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] });
  await worker.close();
}

void main().then(() => console.log('started and closed'));
