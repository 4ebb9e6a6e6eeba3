/**
 * Uses many names on demand once each through one of two nodes, on a real member, and tells what is left: entries of the
 * store, heap, processor time and stalls while idle.
 *
 *     npm run build && node --expose-gc bench/names.mjs [names]
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gatekeeper, hazelcast, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { startHazelcast } from 'nestjs-gatekeeper/testing';

const NAMES = Number(process.argv[2] ?? 100_000);
const FLOWS = 64;
const IDLE = 20_000;
const silent = { log() {}, warn() {}, error() {}, debug() {} };
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const heap = () => (globalThis.gc?.(), Math.round(process.memoryUsage().heapUsed / 1e5) / 10);

const cluster = await startHazelcast({ clusterName: 'names' });
const store = hazelcast({ clusterName: cluster.clusterName, members: cluster.addresses });
const settings = parseGatekeeperOptions({ store, definitionsDelay: '1s' });
const nodes = [new Gatekeeper(settings, silent), new Gatekeeper(settings, silent)];
for (const node of nodes) await node.start();
await (await nodes[0].acquire('warm-up', { duration: '10s' })).release();

const before = heap();
const begun = performance.now();
let next = 0;
const flow = async () => {
  while (next < NAMES) {
    const permit = await nodes[0].tryAcquire(`order-${next++}`, { duration: '10s' });
    await permit.release();
  }
};
await Promise.all(Array.from({ length: FLOWS }, flow));
const took = (performance.now() - begun) / 1000;
const semaphores = (await nodes[0].state()).semaphores.length;

const delays = monitorEventLoopDelay({ resolution: 5 });
await pause(2000);
delays.enable();
const cpu = process.cpuUsage();
await pause(IDLE);
const { user, system } = process.cpuUsage(cpu);
console.table({
  names: NAMES,
  'seconds of use': took.toFixed(1),
  'semaphores left': semaphores,
  'heap before (MB)': before,
  'heap after (MB)': heap(),
  'CPU while idle (%)': ((user + system) / 10 / IDLE).toFixed(2),
  'longest stall while idle (ms)': (delays.max / 1e6).toFixed(1),
});
await Promise.all(nodes.map((node) => node.close()));
await cluster.stop();
