import { Actor } from './actors.mjs';
import { openBed } from './bed.mjs';
import { AHEAD, NAMES, SKEWS } from './cases.mjs';

/** Peers at the same time: each has servers and nodes of its own, and they wait most of the time. */
const AT_ONCE = 3;

/** Raw operations are no locks; memory() is within one process. */
const isTested = ({ kind, server }) => kind !== 'raw' && server !== 'memory';

/** @returns for each peer the result of each of these cases, by id */
export async function correctness(peers, cases, say) {
  const waiting = peers.filter(isTested);
  const results = {};
  const work = async () => {
    for (let peer = waiting.shift(); peer; peer = waiting.shift()) {
      say(`${peer.id}: cases`);
      results[peer.id] = await resultsOf(peer, cases).catch((error) => allFailed(cases, error));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}

/** Nodes, and by how many s the clock of each is ahead. */
const NODES = { a: SKEWS[0], b: SKEWS[1], c: SKEWS[2], ahead: AHEAD };

/** A case on servers of its own begins with servers that have lost nothing yet. All others share servers and nodes. */
async function resultsOf(peer, cases) {
  const together = cases.filter(({ hasOwnServers }) => !hasOwnServers);
  const results = together.length > 0 ? await onNewServers(peer, together, Object.keys(NODES)) : {};
  for (const each of cases) {
    if (each.hasOwnServers) Object.assign(results, await onNewServers(peer, [each], ['a', 'b']));
  }
  return results;
}

async function onNewServers(peer, cases, names) {
  const bed = await openBed(peer);
  const nodes = {};
  try {
    const start = async (node) => {
      nodes[node] = await Actor.start(peer, bed.address, { node, ahead: NODES[node], names: NAMES });
    };
    await Promise.all(names.map(start));
    const results = {};
    for (const { id, run } of cases) results[id] = await run({ peer, bed, nodes }).catch(failed);
    return results;
  } finally {
    await Promise.all(Object.values(nodes).map((node) => node.stop()));
    await bed.close();
  }
}

/** A peer that can't start must not end the run. */
const allFailed = (cases, error) => Object.fromEntries(cases.map(({ id }) => [id, failed(error)]));

const failed = (error) => ({ text: `the experiment failed: ${error.message.split('\n')[0]}`, holds: 'failed' });
