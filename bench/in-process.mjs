import 'reflect-metadata';
import { ClusterSingleton, Gatekeeper, guardWith, memory, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { interleaved, round } from './measure.mjs';

const QUIET = { log() {}, warn() {}, error() {}, debug() {} };
const SEMAPHORES = 10_000;

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
