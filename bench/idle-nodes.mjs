/**
 * A process with idle nodes, for `idle.mjs`, which sends it one request after another:
 *
 *     { open: { cluster, nodes, definitions } }   starts nodes that all define the same semaphores
 *     { use: { names } }                          uses so many names on demand once each, through the first node
 *     { idle: { seconds } }                       answers with what the nodes cost while nothing happens
 *     { stall: { seconds } }                      answers with the longest time for which the event loop was blocked
 *     { close: {} }
 */
import { subscribe } from 'node:diagnostics_channel';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { Gatekeeper, hazelcast, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { notedDriver } from './noted-driver.mjs';

const FLOWS = 64;
const MB = 1e6;
const QUIET = { log() {}, warn() {}, error: console.error, debug() {} };

const sockets = new Set();
subscribe('net.client.socket', ({ socket }) => sockets.add(socket));
const calls = { count: 0 };
const gatekeepers = [];
let heapBefore = 0;

const requests = { open, use, idle, stall, close };
process.on('message', async (request) => {
  const [[name, argument]] = Object.entries(request);
  process.send((await requests[name](argument)) ?? {});
});

async function open({ cluster, nodes, definitions, prefix }) {
  heapBefore = heap();
  const store = counted(hazelcast({ clusterName: cluster.clusterName, members: cluster.addresses }));
  const declared = Array.from({ length: definitions }, (_, index) => ({ name: `job-${index}`, duration: '1m' }));
  for (let index = 0; index < nodes; index++) {
    const options = parseGatekeeperOptions({ store, acquirer: `${prefix}-${index}`, definitions: declared });
    const gatekeeper = new Gatekeeper(options, QUIET);
    gatekeepers.push(gatekeeper);
    await gatekeeper.start();
  }
  await Promise.all(gatekeepers.map((gatekeeper) => gatekeeper.ready({ timeout: '5m' })));
}

async function use({ names }) {
  const [gatekeeper] = gatekeepers;
  // Waits for the birth of the cluster.
  await (await gatekeeper.acquire('warm-up', { duration: '10s' })).release();
  let next = 0;
  const flow = async () => {
    while (next < names) {
      const permit = await gatekeeper.tryAcquire(`order-${next++}`, { duration: '10s' });
      await permit.release();
    }
  };
  await Promise.all(Array.from({ length: FLOWS }, flow));
}

async function idle({ seconds }) {
  const heapPerNode = (heap() - heapBefore) / gatekeepers.length;
  // The collection above is none of the nodes' cost.
  await pause(1000);
  const before = { cpu: process.cpuUsage(), bytes: bytes(), calls: calls.count };
  await pause(seconds * 1000);
  const { user, system } = process.cpuUsage(before.cpu);
  const perNodeAndMinute = (count) => count / gatekeepers.length / (seconds / 60);
  return {
    heap: heapPerNode / MB,
    cpu: (user + system) / 1e4 / seconds / gatekeepers.length,
    calls: perNodeAndMinute(calls.count - before.calls),
    bytes: perNodeAndMinute(bytes() - before.bytes) / MB,
  };
}

/** Not while the processor's time is measured: a look at the clock in every ms takes more of it than an idle node. */
async function stall({ seconds }) {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  await pause(seconds * 1000);
  delays.disable();
  return { stall: delays.max / 1e6 };
}

async function close() {
  await Promise.all(gatekeepers.map((gatekeeper) => gatekeeper.close()));
}

/** A store whose calls are counted. */
function counted(definition) {
  return { ...definition, open: (context) => notedDriver(definition.open(context), () => calls.count++) };
}

function bytes() {
  return [...sockets].reduce((sum, { bytesRead, bytesWritten }) => sum + bytesRead + bytesWritten, 0);
}

function heap() {
  global.gc();
  return process.memoryUsage().heapUsed;
}
