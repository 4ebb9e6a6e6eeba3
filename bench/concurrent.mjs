import { randomUUID } from 'node:crypto';
import { hazelcast } from 'nestjs-gatekeeper';
import { definitionsLoaded, openGatekeeper } from './in-process.mjs';
import { ratesInTurn, round } from './measure.mjs';
import { textOf } from './sequential.mjs';

const FLOWS = 64;
const namesOf = (kind) => Array.from({ length: FLOWS }, (_, index) => `bench-${kind}-${index}`);
const NAMES = [...namesOf('pair'), ...namesOf('refresh'), 'bench-length'];
/** Nodes beside the busy one that use no permit. */
const IDLE_NODES = [0, 2, 10];
/** A pair is two writes; half of the rate that they would have alone. */
const PAIRS_TARGET = 0.25;
/** Of the pairs of a busy node that is alone. */
const BESIDE_IDLE_TARGET = 0.9;
const REFRESH_TARGET = 0.7;

/**
 * 64 flows that each acquire and release, or refresh, a semaphore of their own, against 64 flows of raw compare-and-set
 * on keys of their own, in turn. The semaphores are defined by code, but for one row. Idle nodes run in this process, each with a client of its own: the figures have the
 * processor time of all of them.
 */
export async function concurrent(client, cluster) {
  const clusters = [];
  try {
    for (const idle of IDLE_NODES) clusters.push(await openNodes(client, cluster, idle));
    const [alone] = clusters;
    const pairs = Object.fromEntries(clusters.map(({ idle, busy }) => [idle, pairsOf(busy)]));
    const calls = {
      raw: await rawFlows(client, alone),
      refresh: await refreshFlows(alone.busy),
      onDemand: pairsOnDemand(alone.busy),
      ...pairs,
    };
    return rowsOf(await ratesInTurn(FLOWS, calls));
  } finally {
    for (const { busy, nodes } of clusters) await Promise.all([busy, ...nodes].map((node) => node.close()));
  }
}

/** Each has maps of its own, so that its nodes hear nothing of the others. */
async function openNodes(client, { clusterName, addresses: members }, idle) {
  const mapName = `bench.idle-${idle}`;
  const busy = await openGatekeeper(hazelcast({ client, mapName }), 'busy', NAMES);
  await definitionsLoaded(busy);
  const open = (_, index) => openGatekeeper(hazelcast({ clusterName, members, mapName }), `idle-${index}`);
  const nodes = await Promise.all(Array.from({ length: idle }, open));
  return { idle, mapName, busy, nodes };
}

function pairsOf(gatekeeper) {
  const semaphores = semaphoresOf(gatekeeper, 'pair');
  return async (index) => {
    const permit = await semaphores[index].tryAcquire({ duration: '10m' });
    if (!permit) throw new Error('a free semaphore was denied');
    await permit.release();
  };
}

/** Names that no code defines, each used once. */
function pairsOnDemand(gatekeeper) {
  let count = 0;
  return async () => {
    const permit = await gatekeeper.tryAcquire(`order-${count++}`, { duration: '10m' });
    if (!permit) throw new Error('a name that was not used before was denied');
    await permit.release();
  };
}

async function refreshFlows(gatekeeper) {
  const semaphores = semaphoresOf(gatekeeper, 'refresh');
  const permits = await Promise.all(semaphores.map((semaphore) => semaphore.tryAcquire({ duration: '10m' })));
  return (index) => gatekeeper.refresh(permits[index]);
}

/** From text to text as long as a record that holds one permit. */
async function rawFlows(client, { busy, mapName }) {
  await busy.tryAcquire('bench-length');
  const { length } = await (await client.getMap(mapName)).get('semaphore:bench-length');
  const map = await client.getMap('gatekeeper.bench');
  const keys = Array.from({ length: FLOWS }, () => randomUUID());
  const texts = keys.map(() => textOf(length, 0));
  await Promise.all(keys.map((key, index) => map.set(key, texts[index])));
  let count = 0;
  return async (index) => {
    const next = textOf(length, ++count);
    if (!(await map.replaceIfSame(keys[index], texts[index], next)))
      throw new Error('the raw compare-and-set was refused');
    texts[index] = next;
  };
}

function semaphoresOf(gatekeeper, kind) {
  return namesOf(kind).map((name) => gatekeeper.semaphore(name));
}

function rowsOf({ raw, refresh, onDemand, ...pairs }) {
  const vsRaw = `in ${FLOWS} flows / raw compare-and-set`;
  const onDemandRow = `acquire + release of a new name each ${vsRaw}`;
  const beside = (idle) => `acquire + release ${vsRaw}, ${idle} idle nodes`;
  const targetBeside = (idle) => (idle === 0 ? PAIRS_TARGET : round((BESIDE_IDLE_TARGET * pairs[0].rate) / raw.rate));
  return [
    rateRow(`refresh ${vsRaw}`, 'calls/s', refresh, raw, REFRESH_TARGET),
    ...IDLE_NODES.map((idle) => rateRow(beside(idle), 'pairs/s', pairs[idle], raw, targetBeside(idle))),
    rateRow(onDemandRow, 'pairs/s', onDemand, raw, null),
    processorRow(`refresh ${vsRaw}`, refresh, raw),
    processorRow(onDemandRow, onDemand, raw),
    ...IDLE_NODES.map((idle) => processorRow(beside(idle), pairs[idle], raw)),
  ];
}

function rateRow(name, unit, ours, raw, target) {
  const ratio = ours.rate / raw.rate;
  const met = target === null ? null : ratio >= target;
  return { name, ours: round(ours.rate), reference: round(raw.rate), ratio: round(ratio), unit, target, met };
}

function processorRow(name, ours, raw) {
  return {
    name,
    ours: round(ours.cpu),
    reference: round(raw.cpu),
    ratio: round(ours.cpu / raw.cpu),
    unit: 'µs of CPU',
    target: null,
    met: null,
  };
}
