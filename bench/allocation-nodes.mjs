/**
 * A process with nodes that share resources, for `allocation.mjs`, which sends it one request after another:
 *
 *     { open: { cluster, nodes, resources, prefix } }   starts nodes that take part in one allocation group
 *     { count: {} }                                     answers with the calls and bytes of all nodes until now
 *     { close: { nodes } }                              closes so many nodes, the last ones
 *
 * After each change it reports by itself: { owned: { "p0-1": 200 } }.
 */
import { subscribe } from 'node:diagnostics_channel';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gatekeeper, hazelcast, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { notedDriver } from './noted-driver.mjs';

const QUIET = { log() {}, warn() {}, error: console.error, debug() {} };
/** Calls of the parts that are measured, by the first key. All other calls are those of any idle node. */
const MEASURED = /^(members|allocation):|leader:allocation$/;
const WRITES = new Set(['compareAndSet']);
const READS = new Set(['read', 'readMany', 'list', 'page']);

const sockets = new Set();
subscribe('net.client.socket', ({ socket }) => sockets.add(socket));
const calls = { writes: 0, reads: 0, others: 0 };
const gatekeepers = [];
const delays = monitorEventLoopDelay({ resolution: 5 });

const requests = { open, count, close };
process.on('message', async (request) => {
  const [[name, argument]] = Object.entries(request);
  process.send({ answer: (await requests[name](argument)) ?? {} });
});

async function open({ cluster, nodes, resources, prefix }) {
  delays.enable();
  const store = counted(hazelcast({ clusterName: cluster.clusterName, members: cluster.addresses }));
  const all = Array.from({ length: resources }, (_, index) => `resource-${String(index).padStart(6, '0')}`);
  for (let index = 0; index < nodes; index++) {
    const acquirer = `${prefix}-${gatekeepers.length}`;
    const group = { name: 'bench', resources: () => all, id: String, refreshInterval: '1h' };
    const options = parseGatekeeperOptions({ store, acquirer, allocation: { groups: [group] } });
    const gatekeeper = new Gatekeeper(options, QUIET);
    gatekeepers.push(gatekeeper);
    gatekeeper.allocation
      .group('bench')
      .owned$.subscribe((owned) => process.send({ owned: { [acquirer]: owned.length } }));
    await gatekeeper.start();
    await gatekeeper.allocation.start();
  }
}

function count() {
  const bytes = [...sockets].reduce((sum, { bytesRead, bytesWritten }) => sum + bytesRead + bytesWritten, 0);
  const stall = delays.max / 1e6;
  delays.reset();
  return { ...calls, bytes, stall };
}

async function close({ nodes }) {
  await Promise.all(gatekeepers.splice(-nodes).map((gatekeeper) => gatekeeper.close()));
}

/** A store whose calls are counted. */
function counted(definition) {
  return { ...definition, open: (context) => notedDriver(definition.open(context), note) };
}

function note(method, argument) {
  const key = Array.isArray(argument) ? argument[0] : argument;
  const isMeasured = typeof key === 'string' && MEASURED.test(key);
  if (isMeasured && WRITES.has(method)) calls.writes++;
  else if (isMeasured && READS.has(method)) calls.reads++;
  else calls.others++;
}
