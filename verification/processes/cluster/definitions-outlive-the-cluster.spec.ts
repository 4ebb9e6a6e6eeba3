import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import {
  type ArchiveStore,
  Gatekeeper,
  type GatekeeperEvent,
  files,
  hazelcast,
  parseGatekeeperOptions,
} from 'nestjs-gatekeeper';
import { postgres } from 'nestjs-gatekeeper/postgres';
import { type HazelcastCluster, startHazelcast } from 'nestjs-gatekeeper/testing';
import { eventually } from '../../../test/contract/eventually.js';
import { describeOnHazelcast } from '../../needs/members.js';
import { removed } from '../../../test/support/removed.js';

const DURATION = '10s';
const CODE = ['edited', 'paused', 'removed', 'untouched'].map((name) => ({ name, duration: DURATION }));
const BY_ANN = { by: 'ann', reason: 'the night of the move' };

const SILENT = { log: ignore, warn: ignore, error: ignore, debug: ignore };
function ignore(): void {}

interface Node {
  readonly gatekeeper: Gatekeeper;
  readonly events: GatekeeperEvent[];
}

/** An application of two nodes, with records of its own: all of them live through the same nights. */
class Application {
  nodes: Node[] = [];
  /** How `edited` was before the first night. */
  edited?: unknown;

  constructor(
    readonly what: string,
    readonly mapName: string,
    private readonly persist: () => ArchiveStore[],
  ) {}

  toString(): string {
    return this.what;
  }

  async start(): Promise<void> {
    const persistences = this.persist();
    this.nodes = await Promise.all(persistences.map((each, index) => start(`node-${index}`, this.mapName, each)));
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.splice(0).map(({ gatekeeper }) => gatekeeper.close()));
  }
}

const APPLICATIONS = [
  new Application('a folder of each host', 'gatekeeper.files', () =>
    ['a', 'b'].map((host) => files(join(folder, host, 'definitions'))),
  ),
  new Application('a folder that all share', 'gatekeeper.shared', () =>
    ['a', 'b'].map(() => files(join(folder, 'shared'))),
  ),
  new Application('a table of PostgreSQL', 'gatekeeper.table', () =>
    ['a', 'b'].map(() => postgres({ pool: database, notifications: false })),
  ),
];

let cluster: HazelcastCluster;
let folder: string;
let database: PGlite;

beforeAll(async () => {
  [cluster, folder, database] = await Promise.all([
    startHazelcast({ clusterName: 'outlive' }),
    mkdtemp(join(tmpdir(), 'outlive-')),
    PGlite.create(),
  ]);
});

afterAll(async () => {
  await Promise.all(APPLICATIONS.map((each) => each.close()));
  await Promise.all([cluster?.stop(), database?.close()]);
  await rm(folder, { recursive: true, force: true });
});

async function start(acquirer: string, mapName: string, persistence: ArchiveStore): Promise<Node> {
  const { clusterName, addresses: members } = cluster;
  const options = { store: hazelcast({ clusterName, members, mapName }), acquirer, persistence, definitions: CODE };
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

/** Ends all nodes and members, and starts them again: nothing is left of the cluster's memory. */
async function restartAll(): Promise<void> {
  await Promise.all(APPLICATIONS.map((each) => each.close()));
  await Promise.all(cluster.members.map((member) => member.kill()));
  await Promise.all(cluster.members.map((member) => member.start()));
  await Promise.all(APPLICATIONS.map((each) => each.start()));
}

describeOnHazelcast('when all nodes and all members were stopped at once', () => {
  let tornFolder: string;
  let tornText: string;

  beforeAll(async () => {
    await Promise.all(APPLICATIONS.map((each) => each.start()));
    for (const application of APPLICATIONS) {
      const [one, other] = application.nodes.map(({ gatekeeper }) => gatekeeper.definitions);
      await one!.edit('edited', { permits: 3, duration: '20s' }, BY_ANN);
      await other!.pause('paused', BY_ANN);
      await removed(application.nodes[0]!.gatekeeper, 'removed', BY_ANN);
      await other!.define({ name: 'own', permits: 2, duration: DURATION }, BY_ANN);
      application.edited = await one!.get('edited');
    }
    tornFolder = join(folder, 'torn');
    const { gatekeeper } = await start('first', 'gatekeeper.torn', files(tornFolder));
    await gatekeeper.definitions.edit('edited', { permits: 9 }, BY_ANN);
    await gatekeeper.close();
    const path = join(tornFolder, 'definition%3aedited.json');
    const text = await readFile(path, 'utf8');
    tornText = text.slice(0, text.length / 2);
    await writeFile(path, tornText);
    await restartAll();
  });

  it.each(APPLICATIONS)('what people changed is in force again with %s', async ({ nodes, edited }) => {
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
  });

  it('a node whose file is torn starts with what code says, tells of it, and keeps the file aside', async () => {
    const { gatekeeper, events } = await start('second', 'gatekeeper.torn', files(tornFolder));
    try {
      expect(await gatekeeper.definitions.get('edited')).toMatchObject({ revision: 1, isOverridden: false });
      const problems = problemsOf(events);
      expect(problems).toMatchObject([{ error: { code: 'corrupt-archive' } }]);
      expect(String((problems[0] as { error: Error }).error)).toContain('put aside as "unreadable-definition:edited:');
      const aside = (await readdir(tornFolder)).find((name) => name.startsWith('unreadable-definition'))!;
      expect(await readFile(join(tornFolder, aside), 'utf8')).toBe(tornText);
    } finally {
      await gatekeeper.close();
    }
  });

  describe('and again after further changes, made on what was put back', () => {
    beforeAll(async () => {
      for (const { nodes } of APPLICATIONS) {
        await nodes[1]!.gatekeeper.definitions.resume('paused', BY_ANN);
        await nodes[0]!.gatekeeper.definitions.reset('removed', BY_ANN);
      }
      await restartAll();
    });

    it.each(APPLICATIONS)('those are in force with %s', async ({ nodes }) => {
      const { gatekeeper } = nodes[0]!;
      expect(await gatekeeper.run('paused', () => 1)).toMatchObject({ executed: true });
      expect(await gatekeeper.run('removed', () => 1)).toMatchObject({ executed: true });
      expect(await gatekeeper.definitions.get('paused')).toMatchObject({ revision: 3 });
      expect(await gatekeeper.definitions.get('edited')).toMatchObject({ revision: 2 });
    });
  });
});
