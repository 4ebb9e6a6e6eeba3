import 'reflect-metadata';
import { ClusterSingleton, Gatekeeper, guardWith, memory, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { interleaved, ratesInTurn, round } from './measure.mjs';

const QUIET = { log() {}, warn() {}, error() {}, debug() {} };
const SEMAPHORES = 10_000;
/** Names on demand that are held meanwhile: none, and as many as 20,000 orders in work. */
const HELD = [0, 20_000];
/** Largest ratio of a name on demand to a name that code defines. */
const ON_DEMAND = 1.3;

/** @param names of the semaphores that its code defines, as that of an application does */
export async function openGatekeeper(store, acquirer = 'bench', names = []) {
  const definitions = names.map((name) => ({ name, duration: '10m' }));
  const options = parseGatekeeperOptions({ store, acquirer, definitions, definitionsDelay: 0, sweepInterval: '1h' });
  const gatekeeper = new Gatekeeper(options, QUIET);
  await gatekeeper.start();
  return gatekeeper;
}

/** Waits for the first load of definitions: before it nothing is granted. */
export async function definitionsLoaded(gatekeeper) {
  while (!(await gatekeeper.tryAcquire('bench-ready', { duration: '10m' }).catch(() => undefined))) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The decorator's cost for a call of an empty method, on the memory store. */
export async function decoratorCost() {
  class Jobs {
    async bare() {}
    async guarded() {}
  }
  const descriptor = Object.getOwnPropertyDescriptor(Jobs.prototype, 'guarded');
  ClusterSingleton('bench-decorator', '10m')(Jobs.prototype, 'guarded', descriptor);
  Object.defineProperty(Jobs.prototype, 'guarded', descriptor);
  const gatekeeper = await openGatekeeper(memory());
  const jobs = guardWith(new Jobs(), gatekeeper);
  const { ours, reference } = await interleaved(
    () => () => jobs.guarded(),
    () => () => jobs.bare(),
    undefined,
    { calls: 20_000 },
  );
  await gatekeeper.close();
  const name = "the decorator's cost per run, memory store";
  return [
    { name, ours: round(ours.p50), reference: round(reference.p50), ratio: null, unit: 'µs', target: null, met: null },
  ];
}

/** Processor time of an acquire and its release on the memory store: a name on demand against one that code defines. */
export async function namesOnDemand() {
  const rows = [];
  for (const held of HELD) rows.push(await onDemandBeside(held));
  return rows;
}

async function onDemandBeside(held) {
  const gatekeeper = await openGatekeeper(memory(), 'bench', ['bench-defined']);
  await definitionsLoaded(gatekeeper);
  for (let index = 0; index < held; index++) await gatekeeper.tryAcquire(`bench-held-${index}`, { duration: '10m' });
  const pairOf = (name) => async () => (await gatekeeper.tryAcquire(name, { duration: '10m' })).release();
  const kinds = { ours: pairOf('bench-demanded'), reference: pairOf('bench-defined') };
  const { ours, reference } = await ratesInTurn(1, kinds, { rounds: 9 });
  await gatekeeper.close();
  const ratio = ours.cpu / reference.cpu;
  const name = `processor time of a name on demand / a defined one, memory store, ${held} others held`;
  return {
    name,
    ours: round(ours.cpu),
    reference: round(reference.cpu),
    ratio: round(ratio),
    unit: 'µs',
    target: ON_DEMAND,
    met: ratio <= ON_DEMAND,
  };
}

/** Heap that one semaphore takes in a process that holds a permit of each of 10,000. Needs --expose-gc. */
export async function memoryPerSemaphore() {
  const gatekeeper = await openGatekeeper(memory());
  await gatekeeper.tryAcquire('bench-warm', { duration: '10m' });
  const before = heap();
  for (let index = 0; index < SEMAPHORES; index++) {
    await gatekeeper.tryAcquire(`bench-memory-${index}`, { duration: '10m' });
  }
  const bytes = (heap() - before) / SEMAPHORES;
  await gatekeeper.close();
  const name = `heap per semaphore with ${SEMAPHORES} of them, all held (the store's copy included)`;
  return [{ name, ours: round(bytes), reference: null, ratio: null, unit: 'bytes', target: null, met: null }];
}

function heap() {
  global.gc();
  return process.memoryUsage().heapUsed;
}
