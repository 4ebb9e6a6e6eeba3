import { Gatekeeper, hazelcast, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { round } from './measure.mjs';

const QUIET = { log() {}, warn() {}, error() {}, debug() {} };
const DEFINITIONS = 10_000;
/** ms that operators may wait for all jobs to move. */
const TARGET = 10_000;

/** How long it takes to move every job of a site to another, planning, audit entries and all. */
export async function migration(cluster) {
  const gatekeeper = await withDefinitions(cluster);
  try {
    const request = { group: 'production', to: { groupPattern: 'recovery' } };
    const planned = await timed(() => gatekeeper.definitions.planMigration(request));
    const moved = await timed(() => gatekeeper.definitions.migrate(request, { by: 'bench' }));
    const migrated = moved.result.steps.filter(({ outcome }) => outcome === 'migrated').length;
    if (migrated !== DEFINITIONS) throw new Error(`${migrated} of ${DEFINITIONS} definitions were migrated`);
    const overview = await timed(() => gatekeeper.overview());
    return [
      row('migration planned', planned.took, null),
      row('migration made', moved.took, TARGET),
      row('overview read', overview.took, null),
    ];
  } finally {
    await gatekeeper.close();
  }
}

function row(what, took, target) {
  const name = `${what}, ${DEFINITIONS} definitions`;
  return { name, ours: round(took), reference: null, ratio: null, unit: 'ms', target, met: target && took <= target };
}

async function withDefinitions({ clusterName, addresses: members }) {
  const definitions = Array.from({ length: DEFINITIONS }, (_, index) => ({
    name: `job-${index}`,
    groupPattern: 'production',
    acquirerPattern: 'app[0-9]+',
    duration: '10m',
  }));
  const store = hazelcast({ clusterName, members, mapName: 'gatekeeper.migration' });
  const options = { store, group: 'production', acquirer: 'app1', definitions, definitionsDelay: 0 };
  const gatekeeper = new Gatekeeper(parseGatekeeperOptions(options), QUIET);
  await gatekeeper.start();
  while ((await gatekeeper.state()).semaphores.length < DEFINITIONS) {
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return gatekeeper;
}

async function timed(work) {
  const started = performance.now();
  const result = await work();
  return { result, took: performance.now() - started };
}
