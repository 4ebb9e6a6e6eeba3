import { writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { Client } from 'hazelcast-client';
import { hazelcast } from 'nestjs-gatekeeper';
import { startHazelcast } from 'nestjs-gatekeeper/testing';
import { acquisitions } from './acquisitions.mjs';
import { concurrent } from './concurrent.mjs';
import { decoratorCost, definitionsLoaded, memoryPerSemaphore, openGatekeeper } from './in-process.mjs';
import { migration } from './migration.mjs';
import { FULLY_COMPILED } from './measure.mjs';
import { rawCalls, sequential } from './sequential.mjs';

const RESULTS = new URL('results.json', import.meta.url);

const cluster = await startHazelcast({ jvmArgs: FULLY_COMPILED });
try {
  const rows = [...(await onHazelcast()), ...(await decoratorCost()), ...(await memoryPerSemaphore())];
  rows.push(...(await acquisitions()), ...(await migration()));
  await writeFile(RESULTS, `${JSON.stringify(rows, null, 2)}\n`);
  console.log(
    `node ${process.version}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, one member on loopback`,
  );
  console.table(rows);
} finally {
  await cluster.stop();
}

async function onHazelcast() {
  const network = { clusterMembers: cluster.addresses };
  const client = await Client.newHazelcastClient({
    clusterName: cluster.clusterName,
    network,
    flakeIdGenerators: { 'gatekeeper.clock': { prefetchCount: 1 } },
    properties: { 'hazelcast.logging.level': 'OFF' },
  });
  // The same client for both sides: the same connection, the same settings.
  const gatekeeper = await openGatekeeper(hazelcast({ client }));
  const other = await openGatekeeper(hazelcast({ client }), 'other');
  const map = await client.getMap('gatekeeper.bench');
  const records = await client.getMap('gatekeeper.records');
  try {
    await definitionsLoaded(gatekeeper);
    const raw = rawCalls(map, records);
    // First what runs hot, so that both sides' code is compiled when single calls are timed.
    const flows = await concurrent({ gatekeeper, map, records });
    return [...(await sequential({ gatekeeper, other, raw })), ...flows];
  } finally {
    await gatekeeper.close();
    await other.close();
    await client.shutdown();
  }
}
