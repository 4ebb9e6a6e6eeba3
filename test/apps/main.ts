import type { AddressInfo } from 'node:net';
import { ConsoleLogger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { GatekeeperService } from 'nestjs-gatekeeper';
import { AppModule } from './app.module.js';
import { say } from './say.js';

// Only listens: the process still ends as Node ends it, also for a rejection that nobody handled.
process.on('uncaughtExceptionMonitor', (error, origin) => say('fault', { origin, error }));

const logger = new ConsoleLogger({ logLevels: ['warn', 'error', 'fatal'], colors: false });
const app = await NestFactory.create(AppModule, { logger });
app.enableShutdownHooks();
app.get(GatekeeperService).events$.subscribe((event) => say(event.type, event));
process.once('SIGTERM', () => say('sigterm'));
await app.listen(0, '127.0.0.1');
say('ready', { port: (app.getHttpServer().address() as AddressInfo).port });
