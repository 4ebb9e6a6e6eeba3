import { Client } from 'hazelcast-client';
import { hazelcast } from 'nestjs-gatekeeper';
import { startHazelcast } from 'nestjs-gatekeeper/testing';
import { definitionsLoaded, openGatekeeper } from './in-process.mjs';
import { FULLY_COMPILED, inTurn, round } from './measure.mjs';

/** The last open-source version that has the CP subsystem. */
const CLUSTER = { version: '5.4.0', members: 3, jvmArgs: ['-Dhz.cp-subsystem.cp-member-count=3', ...FULLY_COMPILED] };
const CALLS = { calls: 600, warmup: 300 };
const WAYS = { optimistic: {}, pessimistic: { acquisition: 'pessimistic' }, cp: { cp: true } };

/** Grant, refresh and release under locks and in CP, against the default on the same three members, in one run. */
export async function acquisitions() {
  const cluster = await startHazelcast(CLUSTER);
  const client = await Client.newHazelcastClient({
    clusterName: cluster.clusterName,
    network: { clusterMembers: cluster.addresses },
    flakeIdGenerators: { 'gatekeeper.clock': { prefetchCount: 1 } },
    properties: { 'hazelcast.logging.level': 'OFF' },
  });
  const gatekeepers = {};
  try {
    for (const [way, options] of Object.entries(WAYS)) {
      gatekeepers[way] = await openGatekeeper(hazelcast({ client, mapName: `bench.${way}`, ...options }));
      await definitionsLoaded(gatekeepers[way]);
    }
    return await compared(gatekeepers);
  } finally {
    await Promise.all(Object.values(gatekeepers).map((gatekeeper) => gatekeeper.close()));
    await client.shutdown();
    await cluster.stop();
  }
}

async function compared(gatekeepers) {
  const rows = [];
  for (const [kind, prepared] of Object.entries(KINDS)) {
    const sides = {};
    for (const [way, gatekeeper] of Object.entries(gatekeepers)) {
      sides[way] = await prepared(gatekeeper.semaphore(`bench-${kind}`));
    }
    const { optimistic, ...others } = await inTurn(sides, undefined, CALLS);
    for (const [way, took] of Object.entries(others))
      rows.push(row(`${kind}, ${way} / optimistic`, took.p50, optimistic.p50));
  }
  return rows;
}

/** Each gives what prepares one call (not timed) and returns it. */
const KINDS = {
  async grant(semaphore) {
    let last;
    return async () => {
      await last?.release();
      return async () => (last = await semaphore.tryAcquire({ duration: '10m' }));
    };
  },
  async refresh(semaphore) {
    const permit = await semaphore.tryAcquire({ duration: '10m' });
    return () => () => semaphore.refresh(permit);
  },
  async release(semaphore) {
    return async () => {
      const permit = await semaphore.tryAcquire({ duration: '10m' });
      return () => permit.release();
    };
  },
};

function row(name, ours, reference) {
  return {
    name: `${name}, 3 members`,
    ours: round(ours),
    reference: round(reference),
    ratio: round(ours / reference),
    unit: 'µs',
    target: null,
    met: null,
  };
}
