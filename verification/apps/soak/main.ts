import './counted-timers.js';
import type { EventEmitter } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { ConsoleLogger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { GatekeeperService } from 'nestjs-gatekeeper';
import { filter, firstValueFrom } from 'rxjs';
import { say } from '../say.js';
import { livingTimers } from './counted-timers.js';
import { Faults } from './faults.js';
import { Leak } from './leak.js';
import { ManualWork } from './manual.work.js';
import { Probe, resources } from './probe.js';
import { SoakModule, givenClient } from './soak.module.js';
import { readSoakSettings } from './soak.settings.js';

const { leak, sampleEvery } = readSoakSettings();
const faults = new Faults();

// Jobs fail here on purpose: what the schedule logs of that is no news.
const logger = new ConsoleLogger({ logLevels: ['fatal'], colors: false });
const app = await NestFactory.createApplicationContext(SoakModule, { logger });
const gatekeeper = app.get(GatekeeperService);
const work = new ManualWork(gatekeeper);
gatekeeper.events$.subscribe((event) =>
  work.count(event.type === 'run-skipped' ? `event run-skipped ${event.reason}` : `event ${event.type}`),
);
const granted = firstValueFrom(gatekeeper.events$.pipe(filter(({ type }) => type === 'granted')));
const probe = new Probe({
  faults,
  done: work.done,
  emitters: givenClient ? [givenClient.getLifecycleService() as unknown as EventEmitter] : [],
  names: async () => (await gatekeeper.state()).semaphores.length,
});

process.once('SIGUSR2', () => void close());
work.start();
// Data that are lost before come back with a grace of 15 minutes, in which nobody gets a first permit.
await granted;
probe.start(sampleEvery);
if (leak) new Leak(leak).start();
say('ready');

/** ms: sockets that were closed are gone a few turns later, and the client's pauses between two tries end by themselves. */
const LONGEST_FAREWELL = 2000;

/** All but the pipes, which are standard output and error. */
const isLeft = (): boolean =>
  Object.keys(livingTimers()).length > 0 || Object.keys(resources()).some((kind) => kind !== 'PipeWrap');

/** Afterwards nothing may keep this process alive: it has to end by itself, without `process.exit()`. */
async function close(): Promise<void> {
  probe.stop();
  await work.stop();
  await app.close();
  await givenClient?.shutdown();
  const patience = performance.now() + LONGEST_FAREWELL;
  while (isLeft() && performance.now() < patience) await pause(50);
  say('closed', { timers: livingTimers(), resources: resources(), faults: faults.counts });
}
