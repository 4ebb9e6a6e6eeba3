import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { Environment } from './environment.js';
import { followLauncher } from './launched.js';
import { FAULTS, ShortLog } from './short-log.js';

const environment = new Environment();
// Quiet while it boots: the modules and routes of three nodes would bury what the sample is there to show.
const logger = new ShortLog(FAULTS);
followLauncher(logger);
const app = await NestFactory.create(AppModule.of(environment), { logger });
// On SIGTERM the node gives back its permits at once; without this, others wait until they expire.
app.enableShutdownHooks();
await app.listen(environment.port, '127.0.0.1');
// Add 'debug' to see, at every tick, which runs a node skipped and why.
if (!environment.isQuiet) logger.setLogLevels(['verbose', 'log', ...FAULTS]);
// Notifies the process that started this one over a channel (the launcher, PM2) that it serves.
process.send?.('ready');
