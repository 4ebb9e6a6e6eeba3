import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ConsoleLogger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { GatekeeperService } from 'nestjs-gatekeeper';
import { AppModule } from './app.module.js';
import { say } from './say.js';
import { readSettings } from './settings.js';

// Only listens: an unhandled rejection still ends the process, as usual.
process.on('uncaughtExceptionMonitor', (error, origin) => say('fault', { origin, error }));

const logger = new ConsoleLogger({ logLevels: ['warn', 'error', 'fatal'], colors: false });
const app = await NestFactory.create(AppModule, { logger });
app.enableShutdownHooks();
app.get(GatekeeperService).events$.subscribe((event) => say(event.type, event));
process.once('SIGTERM', () => say('sigterm'));
const { name, sockets } = readSettings();
if (sockets === undefined) await app.listen(0, '127.0.0.1');
else await app.listen(join(sockets, `${name}.http`));
say('ready', { port: (app.getHttpServer().address() as AddressInfo).port });
