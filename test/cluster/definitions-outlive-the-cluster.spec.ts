import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  Gatekeeper,
  type GatekeeperEvent,
  type Persistence,
  file,
  hazelcast,
  parseGatekeeperOptions,
} from 'nestjs-gatekeeper';
import { postgres } from 'nestjs-gatekeeper/postgres';
import { type HazelcastCluster, startHazelcast } from 'nestjs-gatekeeper/testing';
import { eventually } from '../contract/eventually.js';

const DURATION = '10s';
const CODE = ['edited', 'paused', 'removed', 'untouched'].map((name) => ({ name, duration: DURATION }));
const BY_ANN = { by: 'ann', reason: 'the night of the move' };

const SILENT = { log: ignore, warn: ignore, error: ignore, debug: ignore };
function ignore(): void {}

interface Node {
  readonly gatekeeper: Gatekeeper;
  readonly events: GatekeeperEvent[];
}

let cluster: HazelcastCluster;
let folder: string;
let database: PGlite;

beforeAll(async () => {
  [cluster, folder, database] = await Promise.all([
    startHazelcast({ clusterName: 'outlive' }),
    mkdtemp(join(tmpdir(), 'outlive-')),
    PGlite.create(),
  ]);
}, 120_000);

afterAll(async () => {
  await Promise.all([cluster?.stop(), database?.close()]);
  await rm(folder, { recursive: true, force: true });
});

async function start(acquirer: string, persistence: Persistence): Promise<Node> {
  const { clusterName, addresses: members } = cluster;
  const options = { store: hazelcast({ clusterName, members }), acquirer, persistence, definitions: CODE };
  const quick = { definitionsDelay: 500, sweepInterval: 1000, callTimeout: 5000 };
  const gatekeeper = new Gatekeeper(parseGatekeeperOptions({ ...options, ...quick }), SILENT);
  const events: GatekeeperEvent[] = [];
  gatekeeper.events$.subscribe((event) => events.push(event));
  await gatekeeper.start();
  await eventually('code is loaded', async () => (await gatekeeper.definitions.get('untouched')) !== undefined);
  return { gatekeeper, events };
}

/** Of the archive: the first attempt to connect to the members may be under way when definitions are first loaded. */
function problemsOf(events: GatekeeperEvent[]) {
  return events.filter((event) => event.type === 'problem' && event.action.startsWith('archive'));
}

async function restartMembersEmpty(): Promise<void> {
  for (const member of cluster.members) await member.kill();
  for (const member of cluster.members) await member.start();
}

/** Ends all nodes and members, and starts them again: nothing is left of the cluster's memory. */
async function restartAll(nodes: Node[], persistences: Persistence[]): Promise<Node[]> {
  await Promise.all(nodes.map(({ gatekeeper }) => gatekeeper.close()));
  await restartMembersEmpty();
  return Promise.all(persistences.map((each, index) => start(`node-${index}`, each)));
}

describe.each<[string, () => Persistence[]]>([
  ['a file of each host', () => ['a', 'b'].map((host) => file(join(folder, host, 'definitions.json')))],
  ['a file that all share', () => [file(join(folder, 'shared.json')), file(join(folder, 'shared.json'))]],
  ['a table of PostgreSQL', () => [postgres({ pool: database }), postgres({ pool: database })]],
])('with %s', (_what, persist) => {
  let nodes: Node[] = [];

  beforeAll(async () => {
    await restartMembersEmpty();
    nodes = await Promise.all(persist().map((each, index) => start(`node-${index}`, each)));
  }, 120_000);
  afterAll(async () => {
    await Promise.all(nodes.map(({ gatekeeper }) => gatekeeper.close()));
  });

  it('what people changed is in force again when all nodes and all members were stopped at once', async () => {
    const [one, other] = nodes.map(({ gatekeeper }) => gatekeeper.definitions);
    await one!.edit('edited', { permits: 3, duration: '20s' }, BY_ANN);
    await other!.pause('paused', BY_ANN);
    await one!.remove('removed', BY_ANN);
    await other!.define({ name: 'own', permits: 2, duration: DURATION }, BY_ANN);
    const edited = await one!.get('edited');

    nodes = await restartAll(nodes, persist());

    for (const { gatekeeper, events } of nodes) {
      expect(await gatekeeper.definitions.get('edited')).toEqual(edited);
      expect(await gatekeeper.definitions.get('paused')).toMatchObject({ revision: 2, pause: BY_ANN });
      expect(await gatekeeper.definitions.get('removed')).toBeUndefined();
      expect(await gatekeeper.definitions.get('own')).toMatchObject({ definition: { permits: 2 }, change: BY_ANN });
      expect(await gatekeeper.definitions.get('untouched')).toMatchObject({ revision: 1, isOverridden: false });
      expect(await gatekeeper.run('paused', () => 1)).toEqual({ executed: false, reason: 'paused' });
      expect(problemsOf(events)).toEqual([]);
    }
    expect(await nodes[0]!.gatekeeper.run('edited', () => 1)).toEqual({ executed: true, value: 1 });
  }, 120_000);

  it('and again after further changes, made on what was put back', async () => {
    await nodes[1]!.gatekeeper.definitions.resume('paused', BY_ANN);
    await nodes[0]!.gatekeeper.definitions.reset('removed', BY_ANN);

    nodes = await restartAll(nodes, persist());

    const { gatekeeper } = nodes[0]!;
    expect(await gatekeeper.run('paused', () => 1)).toMatchObject({ executed: true });
    expect(await gatekeeper.run('removed', () => 1)).toMatchObject({ executed: true });
    expect(await gatekeeper.definitions.get('paused')).toMatchObject({ revision: 3 });
    expect(await gatekeeper.definitions.get('edited')).toMatchObject({ revision: 2 });
  }, 120_000);
});

describe('with a file that is torn', () => {
  it('the nodes start with what code says, tell of it, and keep the file aside', async () => {
    const path = join(folder, 'torn', 'definitions.json');
    const [first] = [await start('first', file(path))];
    await first.gatekeeper.definitions.edit('edited', { permits: 9 }, BY_ANN);
    await first.gatekeeper.close();
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.slice(0, text.length / 2));
    await restartMembersEmpty();

    const second = await start('second', file(path));
    try {
      expect(await second.gatekeeper.definitions.get('edited')).toMatchObject({ revision: 1, isOverridden: false });
      const problems = problemsOf(second.events);
      expect(problems).toMatchObject([{ error: { code: 'corrupt-archive' } }]);
      const aside = /put aside as (\S+),/.exec(String((problems[0] as { error: Error }).error))![1]!;
      expect(await readFile(aside, 'utf8')).toBe(text.slice(0, text.length / 2));
    } finally {
      await second.gatekeeper.close();
    }
  }, 120_000);
});
