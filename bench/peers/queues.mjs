import { Queue, Worker } from 'bullmq';
import { makeWorkerUtils, run } from 'graphile-worker';
import { Redis } from 'ioredis';
import PgBoss from 'pg-boss';
import pg from 'pg';
import { CONNECTIONS } from './servers.mjs';

/**
 * One interface for all systems. Each uses its usual API, as its own documentation shows it:
 *
 * - `submit(queue, id, data)` resolves when the server has confirmed it.
 * - `work(queue, concurrency, handler)` resolves when workers run, to a function that stops them. A task ends when the
 *   server knows it; `onEnd` is called then.
 */
export const PEERS = { bullmq, 'graphile-worker': graphileWorker, 'pg-boss': pgBoss };

function bullmq({ ports: [port] }) {
  const connection = new Redis({ host: '127.0.0.1', port, maxRetriesPerRequest: null });
  const queues = new Map();
  const queue = (name) => {
    if (!queues.has(name)) queues.set(name, new Queue(name, { connection }));
    return queues.get(name);
  };
  return {
    prepare: async (name) => void (await queue(name).waitUntilReady()),
    submit: (name, id, data) => queue(name).add('task', data, { jobId: id }),
    async work(name, concurrency, handler, onEnd) {
      const worker = new Worker(name, async (job) => handler(job.id), { connection, concurrency });
      worker.on('completed', onEnd);
      await worker.waitUntilReady();
      return () => worker.close();
    },
    async close() {
      for (const each of queues.values()) await each.close();
      await connection.quit();
    },
  };
}

function graphileWorker({ url }) {
  const pgPool = new pg.Pool({ connectionString: url, max: CONNECTIONS });
  pgPool.on('error', () => undefined);
  let utils;
  return {
    async prepare() {
      utils ??= await makeWorkerUtils({ pgPool });
      await utils.migrate();
    },
    submit: (name, id, data) => utils.addJob(name, data, { jobKey: id }),
    async work(name, concurrency, handler, onEnd) {
      const taskList = { [name]: async (_data, { job }) => handler(job.key) };
      const runner = await run({ pgPool, concurrency, taskList, noHandleSignals: true, logger: silent() });
      runner.events.on('job:complete', onEnd);
      return () => runner.stop();
    },
    async close() {
      await utils?.release();
      await pgPool.end();
    },
  };
}

/** Its workers look at most twice a second, for a batch. So `work` fetches and completes in loops, which it offers, too. */
function pgBoss({ url }) {
  const boss = new PgBoss({ connectionString: url, max: CONNECTIONS, supervise: false, schedule: false });
  boss.on('error', () => undefined);
  let started;
  return {
    async prepare(name) {
      started ??= boss.start();
      await started;
      await boss.createQueue(name);
    },
    submit: (name, id, data) => boss.send(name, data, { singletonKey: id }),
    async work(name, concurrency, handler, onEnd) {
      const stopping = new AbortController();
      const loop = async () => {
        while (!stopping.signal.aborted) {
          const [job] = await boss.fetch(name);
          if (!job) {
            await new Promise((resolve) => setTimeout(resolve, 2));
            continue;
          }
          await handler(job.id);
          await boss.complete(name, job.id);
          onEnd();
        }
      };
      const loops = Array.from({ length: concurrency }, loop);
      return async () => {
        stopping.abort();
        await Promise.all(loops);
      };
    },
    close: () => boss.stop({ graceful: false, wait: true }),
  };
}

function silent() {
  return {
    scope: () => silent(),
    error: () => undefined,
    warn: () => undefined,
    info: () => undefined,
    debug: () => undefined,
  };
}
