import { hazelcast, single } from 'nestjs-gatekeeper';
import { percentile } from './measure.mjs';
import { installPeers } from './peers/install.mjs';
import { DATA, open, row } from './tasks.mjs';

/** Tasks of one measurement; a worker alone gets half of them. */
const TASKS = 3000;
/** Submissions at the same time. */
const FLOWS = 64;
/** Each system is measured so often, in turn. The first time warms up. */
const ROUNDS = 3;
const WORKERS = [1, 4, 16];
/** Tasks of one round, one after another, on an idle system. */
const SINGLE = 50;

/**
 * The same work on our tasks and on the queues that Node.js teams use, each on one real server on loopback, in turn. The
 * handler does nothing, so the rows show the cost of the queue. A peer that can't be started is left out with the reason.
 */
export async function peers(_client, cluster) {
  const servers = [];
  const systems = [ours({ clusterName: cluster.clusterName, members: cluster.addresses })];
  try {
    await addPeers(systems, servers);
    const figures = systems.map(() => new Map());
    for (let count = 0; count < ROUNDS; count++) {
      for (const [index, system] of systems.entries()) {
        const taken = await measure(system, `r${count}`);
        if (count > 0)
          for (const [name, value] of taken) figures[index].set(name, [...(figures[index].get(name) ?? []), value]);
      }
    }
    for (const { name, promise } of systems) console.log(`${name}: ${promise}`);
    return rowsOf(systems, figures);
  } finally {
    for (const system of systems) await system.close();
    for (const server of servers) await server.stop();
  }
}

async function addPeers(systems, servers) {
  await installPeers();
  const { bullmq, graphileWorker, pgBoss } = await import('./peers/systems.mjs');
  const { startPostgres, startRedis } = await import('./peers/servers.mjs');
  for (const [start, makers] of [
    [startRedis, [bullmq]],
    [startPostgres, [graphileWorker, pgBoss]],
  ]) {
    try {
      const server = await start();
      servers.push(server);
      for (const make of makers) systems.push(make(server));
    } catch (error) {
      console.log(`left out ${makers.map(({ name }) => name).join(', ')}: ${error.message}`);
    }
  }
}

function ours(options) {
  const store = () => hazelcast({ ...options, mapName: 'bench-peers' });
  let submitter;
  return {
    name: 'ours on Hazelcast',
    promise: 'in memory, with a copy on another member: one member alone, as here, loses all with its end',
    async prepare() {
      submitter ??= await open(store());
    },
    submit: (name, id, data) => submitter.tasks.submit(single(name, id), data),
    async work(name, concurrency, handler, onEnd) {
      const worker = await open(store());
      worker.events$.subscribe(({ type }) => type === 'task-ended' && onEnd());
      worker.tasks.handlers.handle(name, ({ id }) => handler(id), { concurrency });
      worker.tasks.handlers.start();
      return () => worker.close();
    },
    async close() {
      await submitter?.close();
    },
  };
}

/** @returns figures by name */
async function measure(system, round) {
  const figures = new Map();
  for (const workers of WORKERS) {
    const queue = `${round}-w${workers}`;
    const count = workers === 1 ? TASKS / 2 : TASKS;
    await system.prepare(queue);
    const submitted = await submitAll(system, queue, count);
    if (workers === WORKERS.at(-1)) figures.set('submit a task, 64 at the same time, per s', submitted);
    figures.set(
      `complete a task, ${workers} at the same time, per s`,
      await completeAll(system, queue, count, workers),
    );
  }
  const taken = await latency(system, `${round}-idle`);
  figures.set('from submit to start when idle, p50, ms', taken[SINGLE / 2]);
  figures.set('from submit to start when idle, p99, ms', taken[SINGLE - 1]);
  return figures;
}

/** @returns tasks per s */
async function submitAll(system, queue, count) {
  const began = performance.now();
  let next = 0;
  const flow = async () => {
    while (next < count) await system.submit(queue, `${queue}-${next++}`, DATA);
  };
  await Promise.all(Array.from({ length: FLOWS }, flow));
  return (count / (performance.now() - began)) * 1000;
}

/** The time begins with the end of the first task: the start of workers does not count. @returns tasks per s */
async function completeAll(system, queue, count, workers) {
  let done = 0;
  let began;
  let over;
  const all = new Promise((resolve) => (over = resolve));
  const ended = () => {
    began ??= performance.now();
    if (++done === count) over();
  };
  const stop = await system.work(queue, workers, () => undefined, ended);
  await all;
  const rate = ((count - 1) / (performance.now() - began)) * 1000;
  await stop();
  return rate;
}

/** @returns ms, sorted */
async function latency(system, queue) {
  await system.prepare(queue);
  let started;
  const stop = await system.work(
    queue,
    4,
    () => started(performance.now()),
    () => undefined,
  );
  const taken = [];
  for (let count = -10; count < SINGLE; count++) {
    const start = new Promise((resolve) => (started = resolve));
    const began = performance.now();
    await Promise.all([system.submit(queue, `${queue}-${count + 10}`, DATA), start]);
    if (count >= 0) taken.push((await start) - began);
    // The worker is idle again: it waits for the next task.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await stop();
  return taken.toSorted((one, other) => one - other);
}

function rowsOf([mine, ...others], [figures, ...theirs]) {
  return [...figures].flatMap(([name, values]) => [
    row(`${name}: ${mine.name}`, percentile(values, 50)),
    ...others.map((peer, index) =>
      peerRow(`${name}: ${peer.name}`, percentile(values, 50), percentile(theirs[index].get(name), 50)),
    ),
  ]);
}

/** The targets are beside BullMQ: at submit, and with all workers. */
function peerRow(name, value, reference) {
  const made = row(name, value, reference);
  const isAim = name.includes('BullMQ') && !name.includes('when idle') && !/, [14] at/.test(name);
  return isAim ? { ...made, target: 1, met: made.ratio >= 1 } : made;
}
