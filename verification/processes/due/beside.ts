import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../../../tools/test/compile.mjs';
import { type Spread, spreadOf } from './due-run.js';

const PEERS = join(ROOT, 'bench/peers');

interface BullMQ {
  readonly Queue: new (
    name: string,
    options: object,
  ) => Closable & {
    add(name: string, data: object, options: object): Promise<unknown>;
  };
  readonly Worker: new (
    name: string,
    work: (job: { data: { due: number } }) => Promise<void>,
    options: object,
  ) => Closable & {
    waitUntilReady(): Promise<unknown>;
  };
}

interface Closable {
  close(): Promise<unknown>;
}

/** The same delayed tasks in one process of BullMQ, which no one kills. Installs it at the first run. */
export async function delaysOfBullMQ(url: string, count: number, perSecond: number): Promise<Spread> {
  const { installPeers } = (await import(pathToFileURL(join(PEERS, 'install.mjs')).href)) as {
    installPeers(): Promise<void>;
  };
  await installPeers();
  const { Queue, Worker } = createRequire(join(PEERS, 'package.json'))('bullmq') as BullMQ;
  const connection = { host: new URL(url).hostname, port: Number(new URL(url).port) };
  const late: number[] = [];
  const queue = new Queue('due', { connection });
  const work = async ({ data }: { data: { due: number } }) => void late.push(Date.now() - data.due);
  const worker = new Worker('due', work, { connection, concurrency: 50 });
  await worker.waitUntilReady();
  for (let number = 0; number < count; number++) {
    const delay = 200 + Math.floor(1500 * Math.random());
    void queue.add('due', { due: Date.now() + delay }, { delay });
    await pause(1000 / perSecond);
  }
  for (const end = Date.now() + 10_000; late.length < count && Date.now() < end;) await pause(100);
  await worker.close();
  await queue.close();
  return spreadOf(late);
}
