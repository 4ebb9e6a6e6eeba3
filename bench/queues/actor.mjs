/**
 * One system as a process that `../locks/actors.mjs` commands, one command a line, answered by one line of JSON. It ends
 * with its standard input. Arguments: id of the system, address of its server (JSON).
 *
 *     submit QUEUE COUNT FLOWS         { rate }: tasks per s, FLOWS at the same time
 *     complete QUEUE COUNT WORKERS     { rate }: tasks per s, of those that were submitted to this queue
 *     idle QUEUE COUNT                 { p50, p99 }: µs from the submission of a task to its start by an idle worker
 */
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '../measure.mjs';
import { DATA } from '../tasks.mjs';
import { OURS } from './ours.mjs';

const [id, address] = process.argv.slice(2);
// The peers are not installed where only ours is measured.
const open = OURS[id] ?? (await import('../peers/queues.mjs')).PEERS[id];
const system = open(JSON.parse(address));
/** Tasks before the first one whose time counts. */
const WARMUP = 10;

const COMMANDS = {
  submit: (queue, count, flows) => submitAll(queue, Number(count), Number(flows)),
  complete: (queue, count, workers) => completeAll(queue, Number(count), Number(workers)),
  idle: (queue, count) => latency(queue, Number(count)),
};

async function submitAll(queue, count, flows) {
  await system.prepare(queue);
  const began = performance.now();
  let next = 0;
  const flow = async () => {
    while (next < count) await system.submit(queue, `${queue}-${next++}`, DATA);
  };
  await Promise.all(Array.from({ length: flows }, flow));
  return { rate: rateOf(count, began) };
}

/** The time begins with the end of the first task: the start of workers does not count. */
async function completeAll(queue, count, workers) {
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
  const rate = rateOf(count - 1, began);
  await stop();
  return { rate };
}

/** One task after another. The worker is idle again before the next one. */
async function latency(queue, count) {
  await system.prepare(queue);
  let started;
  let ended;
  const stop = await system.work(
    queue,
    4,
    () => started(performance.now()),
    () => ended(),
  );
  const taken = [];
  for (let number = 0; number < WARMUP + count; number++) {
    const start = new Promise((resolve) => (started = resolve));
    const end = new Promise((resolve) => (ended = resolve));
    const began = performance.now();
    await system.submit(queue, `${queue}-${number}`, DATA);
    const took = (await start) - began;
    await end;
    if (number >= WARMUP) taken.push(took * 1000);
    await pause(5); // the worker asks for its next task, and finds none
  }
  await stop();
  return { p50: percentile(taken, 50), p99: percentile(taken, 99) };
}

const rateOf = (count, began) => (count / (performance.now() - began)) * 1000;
const answer = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

answer({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  const [command, ...words] = line.split(' ');
  answer(await COMMANDS[command](...words).catch((error) => ({ error: String(error) })));
}
await system.close();
process.exit();
