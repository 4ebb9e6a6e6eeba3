import { ConsoleLogger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { Environment } from './environment.js';

// Quiet while it boots: the modules and routes of three nodes would bury what the sample is there to show.
const logger = new ConsoleLogger({ logLevels: ['warn', 'error', 'fatal'] });

const environment = new Environment();
const app = await NestFactory.create(AppModule.of(environment), { logger });
// On SIGTERM the node gives back its permits at once; without this, others wait until they expire.
app.enableShutdownHooks();
await app.listen(environment.port, '127.0.0.1');
// Add 'debug' to see, at every tick, which runs a node skipped and why.
logger.setLogLevels(['verbose', 'log', 'warn', 'error', 'fatal']);
// Notifies the process that started this one over a channel (the runner, PM2) that it serves.
process.send?.('ready');
