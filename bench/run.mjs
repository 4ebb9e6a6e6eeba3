import { writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { hazelcast } from 'nestjs-gatekeeper';
import { acquisitions } from './acquisitions.mjs';
import { allocation } from './allocation.mjs';
import { backlog } from './backlog.mjs';
import { concurrent } from './concurrent.mjs';
import { consoleTraffic } from './console.mjs';
import { onHazelcast } from './hazelcast.mjs';
import { history } from './history.mjs';
import { idle } from './idle.mjs';
import { decoratorCost, definitionsLoaded, memoryPerSemaphore, namesOnDemand, openGatekeeper } from './in-process.mjs';
import { migration } from './migration.mjs';
import { onPostgres } from './postgres.mjs';
import { tasks } from './tasks.mjs';
import { onRedis } from './redis.mjs';
import { NAMES, rawCalls, sequential } from './sequential.mjs';

const RESULTS = new URL('results.json', import.meta.url);
/**
 * `npm run bench -- concurrent sequential` runs these two. The concurrent calls come first: the code of both sides is
 * compiled when single calls are timed.
 */
const PARTS = {
  concurrent: () => onHazelcast(concurrent),
  sequential: () => onHazelcast(singleCalls),
  decorator: decoratorCost,
  memory: memoryPerSemaphore,
  'on-demand': namesOnDemand,
  history,
  acquisitions,
  migration,
  console: consoleTraffic,
  idle,
  allocation,
  tasks: () => onHazelcast(tasks),
  backlog,
  redis: onRedis,
  postgres: onPostgres,
};

const { positionals } = parseArgs({ allowPositionals: true });
const unknown = positionals.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) {
  throw new Error(`no part is named ${unknown.join(', ')}: the parts are ${Object.keys(PARTS).join(', ')}`);
}
const rows = [];
for (const part of positionals.length > 0 ? positionals : Object.keys(PARTS)) rows.push(...(await PARTS[part]()));
await writeFile(RESULTS, `${JSON.stringify(rows, null, 2)}\n`);
console.log(
  `node ${process.version}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, one member on loopback`,
);
console.table(rows);

async function singleCalls(client) {
  const gatekeeper = await openGatekeeper(hazelcast({ client }), 'bench', NAMES);
  const other = await openGatekeeper(hazelcast({ client }), 'other', NAMES);
  try {
    await definitionsLoaded(gatekeeper);
    const raw = rawCalls(await client.getMap('gatekeeper.bench'), await client.getMap('gatekeeper.records'));
    return await sequential({ gatekeeper, other, raw });
  } finally {
    await gatekeeper.close();
    await other.close();
  }
}
