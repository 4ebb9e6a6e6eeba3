/**
 * A node that has nothing to do, for `backlog.mjs`. Arguments: `worker` or `node` (the same without a worker), name and
 * members of the cluster (JSON). Writes % of a core, one minute after another, as a line of JSON, and ends.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { hazelcast } from 'nestjs-gatekeeper';
import { open } from './tasks.mjs';

/** The compiler of JavaScript is at work in the first ones. */
const MINUTES = 4;

const [kind, cluster] = process.argv.slice(2);
const gatekeeper = await open(hazelcast({ ...JSON.parse(cluster), mapName: 'bench-idle' }), { heartbeat: undefined });
if (kind === 'worker') {
  gatekeeper.tasks.handlers.handle('mail', () => undefined);
  gatekeeper.tasks.handlers.start();
}
const shares = [];
while (shares.length < MINUTES) {
  const before = process.cpuUsage();
  await pause(60_000);
  const { user, system } = process.cpuUsage(before);
  shares.push((user + system) / 6e5);
}
console.log(JSON.stringify(shares));
await gatekeeper.close();
