import { setTimeout as sleep } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { GatekeeperModule, GatekeeperService, memory } from 'nestjs-gatekeeper';
import { round } from './measure.mjs';

const SEMAPHORES = 1000;
const TOKEN = 'token-of-the-bench-0123456789';
/** ms between two requests of an open page. */
const PAUSE = 2500;
/** Requests per minute. */
const REQUESTS = 60_000 / PAUSE;
/** Largest refresh in kB while little changes. */
const TARGET = 50;
const KB = 1024;

/** Bytes that an open page of the console loads per minute, with 1,000 semaphores. */
export async function consoleTraffic() {
  const app = await startApp();
  try {
    const gatekeeper = app.get(GatekeeperService);
    const base = `http://127.0.0.1:${app.getHttpServer().address().port}/gatekeeper/api`;
    const load = async (path) => {
      const response = await fetch(`${base}/${path}`, { headers: { Authorization: `Bearer ${TOKEN}` } });
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
      return { bytes: Buffer.byteLength(text), ...JSON.parse(text) };
    };
    const { bytes } = await load('semaphores');
    const rows = [row('the whole list', bytes)];
    for (const runs of [0, 10, 100]) rows.push(...(await minute(load, gatekeeper, runs)));
    return rows;
  } finally {
    await app.close();
  }
}

/** @param runs how many jobs run between two requests */
async function minute(load, gatekeeper, runs) {
  let { known } = await load('semaphore-parts');
  const sizes = [];
  for (let index = 0, job = 0; index < REQUESTS; index++) {
    for (let run = 0; run < runs; run++, job++) await gatekeeper.run(nameOf(job % SEMAPHORES), async () => {});
    await sleep(PAUSE);
    const answer = await load(`semaphore-parts?known=${known}`);
    known = answer.known ?? known;
    sizes.push(answer.bytes);
  }
  const total = sizes.reduce((sum, each) => sum + each, 0);
  const when = runs === 0 ? 'nothing runs' : `${runs} runs between two requests`;
  return [
    row(`a minute of an open page, ${when}`, total),
    row(`its largest refresh, ${when}`, Math.max(...sizes), runs <= 10 ? TARGET : null),
  ];
}

function row(what, bytes, target = null) {
  const kB = round(bytes / KB);
  const name = `console, 1,000 semaphores: ${what}`;
  return { name, ours: kB, reference: null, ratio: null, unit: 'kB', target, met: target && kB <= target };
}

async function startApp() {
  const definitions = Array.from({ length: SEMAPHORES }, (_, index) => ({ name: nameOf(index), duration: '1m' }));
  const tokens = [{ token: TOKEN, name: 'bench', role: 'view' }];
  class AppModule {}
  Module({
    imports: [
      GatekeeperModule.forRoot({
        store: memory(),
        acquirer: 'app',
        definitions,
        definitionsDelay: 0,
        console: { tokens },
      }),
    ],
  })(AppModule);
  const app = await NestFactory.create(AppModule, { logger: false });
  await app.listen(0, '127.0.0.1');
  await app.get(GatekeeperService).ready();
  return app;
}

function nameOf(index) {
  return `job-${index}`;
}
