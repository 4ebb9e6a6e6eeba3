import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { execa } from 'execa';
import {
  GatekeeperModule,
  GatekeeperService,
  type SemaphoreDefinitionInput,
  type StoreDefinition,
  hazelcast,
} from 'nestjs-gatekeeper';
import { postgres } from 'nestjs-gatekeeper/postgres';
import { redis } from 'nestjs-gatekeeper/redis';
import { startHazelcast } from 'nestjs-gatekeeper/testing';
import { eventually } from '../../../test/contract/eventually.js';
import { UNHURRIED } from '../../../test/contract/unhurried.js';
import { PostgresServer } from '../../support/postgres-server.js';
import { RedisServer } from '../../support/redis-server.js';

/** The command line as it is shipped. */
export const MAIN = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));

export const TOKENS = { view: 'token-of-vera-0123456789', define: 'token-of-dora-0123456789' } as const;

/** How the command line reaches the cluster. */
export type Way = 'over HTTP' | 'directly';

/** A server of a store that runs. */
interface Server {
  readonly store: StoreDefinition;
  /** For `--store`. */
  readonly address: string;
  /** Ends it at once. */
  readonly kill: () => Promise<unknown>;
  readonly stop: () => Promise<unknown>;
}

const SERVERS = {
  Hazelcast: async (): Promise<Server> => {
    const cluster = await startHazelcast();
    const { clusterName, addresses } = cluster;
    return {
      store: hazelcast({ clusterName, members: addresses }),
      address: `hazelcast://${addresses.join(',')}/${clusterName}`,
      kill: async () => cluster.members[0]!.kill(),
      stop: () => cluster.stop(),
    };
  },
  PostgreSQL: async (): Promise<Server> => {
    const server = await PostgresServer.start();
    const stop = async () => server[Symbol.asyncDispose]();
    return { store: postgres({ connectionString: server.address() }), address: server.address(), kill: stop, stop };
  },
  Redis: async (): Promise<Server> => {
    const server = await RedisServer.start();
    const stop = async () => server[Symbol.asyncDispose]();
    return { store: redis({ url: server.url }), address: server.url, kill: stop, stop };
  },
};

export type ServerName = keyof typeof SERVERS;

/** A real server of a store, and an application with a console on it. */
export class LiveCluster implements AsyncDisposable {
  private constructor(
    readonly app: INestApplication,
    readonly server: Server,
    readonly folder: string,
    private readonly url: string,
  ) {}

  static async start(
    definitions: readonly SemaphoreDefinitionInput[],
    name: ServerName = 'Hazelcast',
  ): Promise<LiveCluster> {
    const folder = await mkdtemp(join(tmpdir(), 'gatekeeper-cli-'));
    await writeFile(join(folder, 'token'), `${TOKENS.define}\n`, { mode: 0o600 });
    const server = await SERVERS[name]();
    const app = await startApp(server.store, definitions);
    const { port } = app.getHttpServer().address();
    return new LiveCluster(app, server, folder, `http://127.0.0.1:${port}/gatekeeper`);
  }

  get gatekeeper(): GatekeeperService {
    return this.app.get(GatekeeperService);
  }

  /** Options that name the target, and the author. */
  target(way: Way): string[] {
    if (way === 'over HTTP') return ['--url', this.url, '--token-file', join(this.folder, 'token')];
    return ['--as', 'dora'];
  }

  /** The command line in a process of its own. The address of a store may have a password, so it stands in the environment. */
  process(way: Way, args: readonly string[], env: Record<string, string> = {}) {
    const ofStore: Record<string, string> = way === 'directly' ? { GATEKEEPER_STORE: this.server.address } : {};
    return this.bare([...this.target(way), ...args], { ...ofStore, ...env });
  }

  /** As {@link process}, without a target. */
  bare(args: readonly string[], env: Record<string, string> = {}) {
    return execa(process.execPath, [MAIN, ...args], {
      reject: false,
      stripFinalNewline: false,
      env: { NODE_OPTIONS: '', ...env },
      timeout: 50_000,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app.close();
    await this.server.stop();
    await rm(this.folder, { recursive: true });
  }
}

async function startApp(
  store: StoreDefinition,
  definitions: readonly SemaphoreDefinitionInput[],
): Promise<INestApplication> {
  const module = GatekeeperModule.forRoot({
    store,
    group: 'production',
    acquirer: 'app1',
    version: '1.2.3',
    definitions,
    definitionsDelay: 0,
    // Hundreds of definitions are written at once.
    ...UNHURRIED,
    console: {
      tokens: [
        { token: TOKENS.view, name: 'vera', role: 'view' },
        { token: TOKENS.define, name: 'dora', role: 'define' },
      ],
    },
  });
  const app = (await Test.createTestingModule({ imports: [module] }).compile()).createNestApplication({
    logger: false,
  });
  await app.listen(0, '127.0.0.1');
  const gatekeeper = app.get(GatekeeperService);
  await eventually('the application has loaded its definitions and is listed', async () => {
    const { semaphores, nodes } = await gatekeeper.overview();
    return semaphores.length === definitions.length && nodes.length === 1;
  });
  return app;
}
