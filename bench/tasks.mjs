import { Gatekeeper, hazelcast, parseGatekeeperOptions, single } from 'nestjs-gatekeeper';
import { round } from './measure.mjs';

const QUIET = { log() {}, warn() {}, error() {}, debug() {} };
/** Tasks of one measurement. */
const TASKS = 20_000;
/** Submissions at the same time. */
const FLOWS = 64;
/** About 100 bytes, as the tasks of the peers' benches have. */
export const DATA = {
  to: 'ann@example.com',
  subject: 'Your order',
  text: 'It is on its way to you, and arrives tomorrow.',
};

/**
 * Submits tasks, and works on them, with one member on loopback. The reference is the same number of puts and queue
 * operations through the bare client: what no protocol on this member can beat.
 */
export async function tasks(client, cluster) {
  const options = { clusterName: cluster.clusterName, members: cluster.addresses };
  const rows = [];
  const raw = await rawRates(client);
  const gatekeeper = await open(hazelcast({ ...options, mapName: 'bench-tasks' }));
  await submitAll(gatekeeper, 'warm', TASKS / 4);
  const submitted = await submitAll(gatekeeper, 'first', TASKS);
  rows.push(row('submit a task, 64 at the same time, per s', submitted, raw.submit));
  await gatekeeper.close();
  for (const concurrency of [1, 4, 16]) {
    const rate = await complete(options, concurrency);
    rows.push(row(`complete a task, ${concurrency} at the same time, per s`, rate, raw.complete));
  }
  const { p50, p99 } = await latency(options);
  rows.push({ ...row('from submit to start on an idle cluster, p50, ms', p50), target: 3, met: p50 < 3 });
  rows.push({ ...row('from submit to start on an idle cluster, p99, ms', p99), target: 20, met: p99 < 20 });
  return rows;
}

export async function open(store, options = { heartbeat: 0 }) {
  const settings = parseGatekeeperOptions({ store, acquirer: 'bench', history: false, ...options });
  const gatekeeper = new Gatekeeper(settings, QUIET);
  await gatekeeper.start();
  return gatekeeper;
}

/** @returns tasks per s */
export async function submitAll(gatekeeper, type, count, first = 0) {
  const began = performance.now();
  let next = first;
  const flow = async () => {
    while (next < first + count) await gatekeeper.tasks.submit(single(type, `task-${next++}`), DATA);
  };
  await Promise.all(Array.from({ length: FLOWS }, flow));
  return (count / (performance.now() - began)) * 1000;
}

async function complete(options, concurrency) {
  const count = concurrency === 1 ? TASKS / 4 : TASKS;
  const gatekeeper = await open(hazelcast({ ...options, mapName: `bench-complete-${concurrency}` }));
  await submitAll(gatekeeper, 'mail', count);
  let done = 0;
  const over = new Promise((resolve) => {
    const ended = ({ type }) => type === 'task-ended' && ++done === count && resolve();
    gatekeeper.events$.subscribe(ended);
  });
  gatekeeper.tasks.handlers.handle('mail', () => undefined, { concurrency });
  const began = performance.now();
  gatekeeper.tasks.handlers.start();
  await over;
  const rate = (count / (performance.now() - began)) * 1000;
  await gatekeeper.close();
  return rate;
}

/** One task at a time. */
async function latency(options) {
  const gatekeeper = await open(hazelcast({ ...options, mapName: 'bench-latency' }));
  let started;
  gatekeeper.tasks.handlers.handle('mail', () => started(performance.now()), { concurrency: 4 });
  gatekeeper.tasks.handlers.start();
  const taken = [];
  for (let count = -200; count < 1000; count++) {
    const start = new Promise((resolve) => (started = resolve));
    const began = performance.now();
    const submitting = gatekeeper.tasks.submit(single('mail', `one-${count}`), DATA);
    const at = await start;
    await submitting;
    if (count >= 0) taken.push(at - began);
    // The worker is idle again: it waits at the queue.
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  await gatekeeper.close();
  const sorted = taken.toSorted((one, other) => one - other);
  return { p50: sorted[500], p99: sorted[990] };
}

/** The bare operations that a submission, and a claim with its completion, can't do without. */
async function rawRates(client) {
  const map = await client.getMap('bench-raw-tasks');
  const queue = await client.getQueue('bench-raw-ready');
  const text = 'x'.repeat(250);
  const run = async (work) => {
    const began = performance.now();
    let next = 0;
    const flow = async () => {
      while (next < TASKS) await work(next++);
    };
    await Promise.all(Array.from({ length: FLOWS }, flow));
    return (TASKS / (performance.now() - began)) * 1000;
  };
  const submit = await run(async (each) => {
    await map.putIfAbsent(`task-${each}`, text);
    await queue.offer(text);
  });
  const completed = await run(async (each) => {
    await queue.poll();
    await map.replaceIfSame(`task-${each}`, text, `${text}1`);
    await map.replaceIfSame(`task-${each}`, `${text}1`, `${text}2`);
  });
  await map.destroy();
  await queue.destroy();
  return { submit, complete: completed };
}

/** A row of the table, without a target. */
export function row(name, ours, reference) {
  const ratio = reference === undefined ? null : round(ours / reference);
  return {
    name,
    ours: round(ours),
    reference: reference === undefined ? null : round(reference),
    ratio,
    unit: '',
    target: null,
    met: null,
  };
}
