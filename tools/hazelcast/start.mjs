/**
 * Starts real Hazelcast members for development, until Ctrl-C. Needs a built package (npm run build).
 *
 *   node tools/hazelcast/start.mjs [--members N] [--cluster NAME] [--port P]
 *   node tools/hazelcast/start.mjs --fetch-only
 */
import { parseArgs } from 'node:util';
import { fetchHazelcast, HazelcastLauncherError, startHazelcast } from 'nestjs-gatekeeper/testing';

const { values } = parseArgs({
  options: {
    members: { type: 'string', default: '1' },
    cluster: { type: 'string', default: 'dev' },
    port: { type: 'string', default: '5701' },
    'fetch-only': { type: 'boolean', default: false },
  },
});

async function start() {
  const cluster = await startHazelcast({
    members: Number(values.members),
    clusterName: values.cluster,
    basePort: Number(values.port),
    // It lives as long as you work: all of Java's compilers pay off.
    jvmArgs: ['-XX:TieredStopAtLevel=4'],
  });
  console.log(`Cluster "${cluster.clusterName}": ${cluster.addresses.join(', ')}. Ctrl-C ends it.`);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => cluster.stop());
}

try {
  if (values['fetch-only']) console.log(await fetchHazelcast());
  else await start();
} catch (error) {
  if (!(error instanceof HazelcastLauncherError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
