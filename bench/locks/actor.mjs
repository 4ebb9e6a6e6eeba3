/**
 * One peer as a process that `actors.mjs` commands, one command a line, answered by one line of JSON. It ends with its
 * standard input. Arguments: id of the peer, address of its server (JSON), name of the node, names of locks (JSON).
 *
 *     acquire NAME MS [keep]                         { held, token }; "keep": with the library's own refreshing, if it has one
 *     release                                        { released }
 *     status                                         { believes }: what the library says about the lock when asked
 *     ticks NAME FIRST PERIOD COUNT JOB LEASE        { runs }: ticks in which this node ran the job, by its own clock
 *     bench FLOWS MS                                 { pairs, ms, p50, p99 }; the percentiles of acquisitions in µs
 */
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '../measure.mjs';
import { ours } from './ours.mjs';
import { OTHERS } from './others.mjs';
import { RAW } from './raw.mjs';

const [id, address, node, names] = process.argv.slice(2);
const open = OTHERS[id] ?? RAW[id] ?? ((...args) => ours(id, ...args));
const locks = await open(JSON.parse(address), node, JSON.parse(names));
let held;

const COMMANDS = {
  async acquire(name, ms, keep) {
    const taken = await locks.acquire(name, Number(ms), keep === 'keep');
    if (taken) held = taken;
    return { held: Boolean(taken), token: taken?.token ?? null };
  },
  async release() {
    await held.release();
    return { released: true };
  },
  status: async () => ({ believes: held.believes() }),
  async ticks(name, ...numbers) {
    const [first, period, count, job, lease] = numbers.map(Number);
    const runs = [];
    for (let tick = first; tick < first + count; tick++) {
      await until(tick * period);
      if (await locks.run(name, lease, () => pause(job))) runs.push(tick);
    }
    return { runs };
  },
  bench: (flows, ms) => bench(Number(flows), Number(ms)),
};

/** By this process's clock. Timers may be a moment early. */
async function until(wall) {
  for (let left = wall - Date.now(); left > 0; left = wall - Date.now()) await pause(left);
}

/** Each flow takes and releases a lock of its own. */
async function bench(flows, ms) {
  const taken = [];
  const began = performance.now();
  const flow = async (index) => {
    while (performance.now() < began + ms) {
      const before = performance.now();
      const lock = await locks.acquire(`bench-${index}`, 600_000);
      if (!lock) throw new Error('a free lock was refused');
      taken.push((performance.now() - before) * 1000);
      await lock.release();
    }
  };
  await Promise.all(Array.from({ length: flows }, (_, index) => flow(index)));
  const took = performance.now() - began;
  return { pairs: taken.length, ms: took, p50: percentile(taken, 50), p99: percentile(taken, 99) };
}

const answer = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
answer({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  const [command, ...words] = line.split(' ');
  answer(await COMMANDS[command](...words).catch((error) => ({ error: String(error) })));
}
await locks.close();
process.exit();
