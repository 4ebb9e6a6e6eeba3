import { startHazelcast } from 'nestjs-gatekeeper/testing';
import { FULLY_COMPILED, percentile } from '../measure.mjs';
import { startPostgres, startRedis } from '../peers/servers.mjs';
import { Actor } from './actors.mjs';

export const FLOWS = [1, 64];
const ROUNDS = 5;
/** s; Java needs more calls than Node.js until its code is compiled. */
const WARMUP = { java: 2, node: 1 };
/** With all flows, however many are measured then: the code of a process that has been up for a while is compiled. */
const WARMUP_FLOWS = Math.max(...FLOWS);

/**
 * Pairs of acquisition and release per second, and percentiles of the acquisition (µs): medians of rounds, in which all
 * take their turn, each in a process of its own.
 *
 * @param seconds measured for each peer and number of flows
 */
export async function speed(peers, seconds, say) {
  const servers = await startServers(peers);
  const actors = [];
  try {
    const names = Array.from({ length: WARMUP_FLOWS }, (_, index) => `bench-${index}`);
    for (const peer of peers) actors.push(await Actor.start(peer, servers.addressOf(peer), { names }));
    const figures = Object.fromEntries(peers.map(({ id }) => [id, {}]));
    for (const flows of FLOWS) {
      say(`speed with ${flows} ${flows === 1 ? 'flow' : 'flows'}`);
      const taken = await inRounds(peers, actors, { flows, seconds, say });
      for (const [id, answers] of Object.entries(taken)) figures[id][flows] = medians(answers);
    }
    return figures;
  } finally {
    for (const actor of actors) await actor.stop();
    await servers.stop();
  }
}

/** @returns the figures of all rounds, by id; none for a peer that failed, which is said */
async function inRounds(peers, actors, { flows, seconds, say }) {
  const taken = Object.fromEntries(peers.map(({ id }) => [id, []]));
  const measured = async (count, ms, keep) => {
    for (const [index, { id, provider }] of peers.entries()) {
      if (!taken[id]) continue;
      const answer = await actors[index].ask('bench', count, Math.round(ms(provider)));
      if (answer.error === undefined) keep(id, answer);
      else {
        delete taken[id];
        say(`left out ${id} with ${count} flows: ${answer.error}`);
      }
    }
  };
  const warmup = (provider) => Math.min(provider ? WARMUP.java : WARMUP.node, seconds) * 1000;
  await measured(WARMUP_FLOWS, warmup, () => undefined);
  for (let round = 0; round < ROUNDS; round++) {
    await measured(
      flows,
      () => (seconds * 1000) / ROUNDS,
      (id, answer) => taken[id].push(answer),
    );
  }
  return taken;
}

function medians(taken) {
  const median = (valueOf) => percentile(taken.map(valueOf), 50);
  return {
    rate: median(({ pairs, ms }) => (pairs / ms) * 1000),
    p50: median(({ p50 }) => p50),
    p99: median(({ p99 }) => p99),
  };
}

/** Of a Hazelcast member, as in use: all tasks of a run fit in. The other servers have no limit. */
const HEAP = '2g';

/** The same server for all peers of its kind. */
export async function startServers(peers) {
  const needed = (server) => peers.some((peer) => peer.server === server);
  const count = peers.some(({ servers }) => servers === 3) ? 3 : 1;
  const redis = needed('redis') ? await Promise.all(Array.from({ length: count }, () => startRedis())) : [];
  const postgres = needed('postgres') ? [await startPostgres()] : [];
  const clusters = needed('hazelcast') ? [await startHazelcast({ heap: HEAP, jvmArgs: FULLY_COMPILED })] : [];
  const addresses = {
    redis: ({ servers = 1 }) => ({ ports: redis.slice(0, servers).map(({ port }) => port) }),
    postgres: () => ({ url: postgres[0].url }),
    hazelcast: () => ({ clusterName: clusters[0].clusterName, members: clusters[0].addresses }),
    memory: () => ({}),
  };
  return {
    addressOf: (peer) => addresses[peer.server](peer),
    stop: () => Promise.all([...redis, ...postgres, ...clusters].map((server) => server.stop())),
  };
}
