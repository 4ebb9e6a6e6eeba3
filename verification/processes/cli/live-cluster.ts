import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { execa } from 'execa';
import { GatekeeperModule, GatekeeperService, type SemaphoreDefinitionInput, hazelcast } from 'nestjs-gatekeeper';
import { startHazelcast } from 'nestjs-gatekeeper/testing';
import { eventually } from '../../../test/contract/eventually.js';
import { UNHURRIED } from '../../../test/contract/unhurried.js';

/** The command line as it is shipped. */
export const MAIN = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));

export const TOKENS = { view: 'token-of-vera-0123456789', define: 'token-of-dora-0123456789' } as const;

/** How the command line reaches the cluster. */
export type Way = 'over HTTP' | 'directly to Hazelcast';

/** A real member, and an application with a console on it. */
export class LiveCluster implements AsyncDisposable {
  private constructor(
    readonly app: INestApplication,
    readonly hazelcast: Awaited<ReturnType<typeof startHazelcast>>,
    readonly folder: string,
    private readonly url: string,
  ) {}

  static async start(definitions: readonly SemaphoreDefinitionInput[]): Promise<LiveCluster> {
    const folder = await mkdtemp(join(tmpdir(), 'gatekeeper-cli-'));
    await writeFile(join(folder, 'token'), `${TOKENS.define}\n`, { mode: 0o600 });
    const cluster = await startHazelcast();
    const app = await startApp(
      hazelcast({ clusterName: cluster.clusterName, members: cluster.addresses }),
      definitions,
    );
    const { port } = app.getHttpServer().address();
    return new LiveCluster(app, cluster, folder, `http://127.0.0.1:${port}/gatekeeper`);
  }

  get gatekeeper(): GatekeeperService {
    return this.app.get(GatekeeperService);
  }

  /** Options that name the target. */
  target(way: Way): string[] {
    if (way === 'over HTTP') return ['--url', this.url, '--token-file', join(this.folder, 'token')];
    const { clusterName, addresses } = this.hazelcast;
    return ['--hazelcast', addresses.join(','), '--cluster', clusterName, '--as', 'dora'];
  }

  /** The command line in a process of its own. */
  process(way: Way, args: readonly string[], env: Record<string, string> = {}) {
    return this.bare([...this.target(way), ...args], env);
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
    await this.hazelcast.stop();
    await rm(this.folder, { recursive: true });
  }
}

async function startApp(
  store: ReturnType<typeof hazelcast>,
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
