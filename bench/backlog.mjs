import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { hazelcast } from 'nestjs-gatekeeper';
import { startHazelcast } from 'nestjs-gatekeeper/testing';
import { FULLY_COMPILED, percentile } from './measure.mjs';
import { open, row, submitAll } from './tasks.mjs';

/** Waiting tasks. */
const BACKLOGS = [1000, 100_000, 1_000_000];
/** Tasks of one measurement. As many as ended are submitted again. */
const TAKEN = 500;
/** The backlogs are measured in turn. The first time warms up. */
const ROUNDS = 7;
/** A backlog costs so much more than the smallest one, at the most. */
const MOST_COST = 1.5;
/** % of a core, for the whole process. */
const MOST_IDLE = 0.5;

/** The cost of waiting tasks, each backlog in maps of its own on one member; and that of a worker that has nothing to do. */
export async function backlog() {
  const member = await startHazelcast({ heap: '12g', jvmArgs: FULLY_COMPILED });
  try {
    const options = { clusterName: member.clusterName, members: member.addresses };
    return [...(await idleWorker(options)), ...(await backlogs(options, member))];
  } finally {
    await member.stop();
  }
}

/** A node that has nothing to do, and one beside it without a worker. */
async function idleWorker(options) {
  const [worker, node] = await Promise.all(['worker', 'node'].map((kind) => idleShares(kind, options)));
  const first = row('a process with an idle worker, first minute, % of a core', worker[0], node[0]);
  const later = row('a process with an idle worker, fourth minute, % of a core', worker.at(-1), node.at(-1));
  return [first, { ...later, target: MOST_IDLE, met: worker.at(-1) < MOST_IDLE }];
}

/** @returns % of a core of a process, for one minute after another */
async function idleShares(kind, options) {
  const program = fileURLToPath(new URL('idle-worker.mjs', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program, kind, JSON.stringify(options)]);
  return JSON.parse(stdout.trim().split('\n').at(-1));
}

async function backlogs(options, member) {
  const rows = [];
  const stores = new Map();
  for (const size of BACKLOGS) {
    const gatekeeper = await open(hazelcast({ ...options, mapName: `bench-backlog-${size}` }));
    const before = await used(member);
    await submitAll(gatekeeper, 'mail', size);
    const after = await used(member);
    stores.set(size, { gatekeeper, times: [], next: size });
    if (size !== BACKLOGS.at(-1)) continue;
    rows.push(row('bytes per waiting task, on the member', (after.member - before.member) / size));
    rows.push(row('bytes per waiting task, on a node', (after.node - before.node) / size));
  }
  for (let count = 0; count < ROUNDS; count++) {
    for (const [size, store] of stores) {
      const { time, done } = await take(options, size);
      if (count > 0) store.times.push(time);
      await submitAll(store.gatekeeper, 'mail', done, store.next);
      store.next += done;
    }
  }
  for (const { gatekeeper } of stores.values()) await gatekeeper.close();
  const [least] = stores.values();
  for (const [size, { times }] of stores) {
    const made = row(
      `µs per task, 4 at the same time, while ${size} wait`,
      percentile(times, 50),
      percentile(least.times, 50),
    );
    rows.push(size === BACKLOGS[0] ? made : { ...made, target: MOST_COST, met: made.ratio <= MOST_COST });
  }
  return rows;
}

/** @returns µs from the end of one task to that of the next, and the number of tasks that ended */
async function take(options, size) {
  const gatekeeper = await open(hazelcast({ ...options, mapName: `bench-backlog-${size}` }));
  const { handlers } = gatekeeper.tasks;
  let done = 0;
  let began;
  const over = new Promise((resolve) => {
    gatekeeper.events$.subscribe(({ type }) => {
      if (type !== 'task-ended') return;
      began ??= performance.now();
      if (++done !== TAKEN) return;
      handlers.pauseType('mail');
      resolve(performance.now());
    });
  });
  handlers.handle('mail', () => undefined, { concurrency: 4 });
  handlers.start();
  const time = (((await over) - began) / (TAKEN - 1)) * 1000;
  await gatekeeper.close();
  return { time, done };
}

/** Bytes in use after a collection of garbage, on the member and on this node. */
async function used({ members: [{ pid }] }) {
  globalThis.gc();
  const { stdout } = await promisify(execFile)('jcmd', [`${pid}`, 'GC.class_histogram'], { maxBuffer: 2 ** 26 });
  const [, bytes] = /^Total +\d+ +(\d+)/m.exec(stdout);
  return { member: Number(bytes), node: process.memoryUsage().heapUsed };
}
