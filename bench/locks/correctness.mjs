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

/** Cases on servers of their own begin with a server that has lost nothing yet. All others share servers and nodes. */
async function resultsOf(peer, cases) {
  const alone = cases.filter(({ hasOwnServers }) => hasOwnServers);
  const together = cases.filter(({ hasOwnServers }) => !hasOwnServers);
  const results = {};
  for (const some of [together, ...alone.map((each) => [each])]) {
    if (some.length > 0) Object.assign(results, await onNewServers(peer, some));
  }
  return results;
}

async function onNewServers(peer, cases) {
  const bed = await openBed(peer);
  const nodes = {};
  try {
    const start = async (node, ahead) => {
      nodes[node] = await Actor.start(peer, bed.address, { node, ahead, names: NAMES });
    };
    await Promise.all([...SKEWS.map((skew, index) => start('abc'[index], skew)), start('ahead', AHEAD)]);
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
