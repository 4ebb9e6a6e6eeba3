import { AsyncResource } from 'node:async_hooks';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  AllocationService,
  ClusterService,
  GatekeeperService,
  type GatekeeperState,
  type Driver,
  type StoreDefinition,
} from 'nestjs-gatekeeper';
import { AppModule } from '../../app.module.js';
import { QUEUE_GROUP } from '../../delivery/queues.js';
import { Environment } from '../../environment.js';
import { Reconciliation } from '../../tasks/reconciliation.js';
import { type LogSource, type NodeLog, runAs } from './node-log.js';

/** What all nodes of the process share. */
export interface Shared {
  readonly store: StoreDefinition;
  readonly archiveUrl: string;
  readonly log: NodeLog;
  /** Further settings, see {@link Environment}. */
  readonly variables: NodeJS.ProcessEnv;
}

/** One node: the app in this process, beside others. It is started again as another {@link EmbeddedNode}. */
export class EmbeddedNode {
  readonly #source: LogSource;
  readonly #stores: readonly Driver[];
  readonly #app: INestApplication;
  #ended = Promise.resolve();

  private constructor(app: INestApplication, source: LogSource, stores: readonly Driver[]) {
    this.#app = app;
    this.#source = source;
    this.#stores = stores;
  }

  /** Resolves when it serves requests. @param place which of the nodes it is: 0, 1, 2 */
  static start(port: number, place: number, shared: Shared): Promise<EmbeddedNode> {
    const source: LogSource = { port, place, state: 'booting' };
    const stores: Driver[] = [];
    const store: StoreDefinition = {
      ...shared.store,
      open: (options) => {
        const opened = boundToNode(shared.store.open(options));
        stores.push(opened);
        return opened;
      },
    };
    return runAs(source, async () => {
      const environment = new EmbeddedEnvironment(source, { ...shared, store });
      // An error must end the start of this node, not the process.
      const app = await NestFactory.create(AppModule.of(environment), { logger: shared.log, abortOnError: false });
      await app.listen(port, '127.0.0.1').catch(async (error: unknown) => {
        // Without its port it would still take part in all else.
        await app.close();
        throw error;
      });
      source.state = 'serving';
      return new EmbeddedNode(app, source, stores);
    });
  }

  get port(): number {
    return this.#source.port;
  }

  get isUp(): boolean {
    return this.#source.state === 'serving';
  }

  get name(): string {
    return this.#app.get(GatekeeperService).node.acquirer;
  }

  get isLeader(): boolean {
    return this.#app.get(ClusterService).isLeader();
  }

  /** The queues that it owns. */
  get queues(): string[] {
    return this.#app
      .get(AllocationService)
      .group(QUEUE_GROUP)
      .owned()
      .map(({ id }) => id);
  }

  /** The holders on all nodes. */
  state(): Promise<GatekeeperState> {
    return this.#app.get(GatekeeperService).state();
  }

  /** Begins the example with 100 tasks, under a name that was not used before. */
  reconcile(name: string): Promise<void> {
    return runAs(this.#source, () => this.#app.get(Reconciliation, { strict: false }).begin(name));
  }

  /**
   * Takes it down as `kill -9` does: it loses its store, its port, the shared process and its log at once, so it can give
   * nothing back. What the others learn of its end is that its permits and leases expire.
   *
   * @returns when the port is free; {@link ended} resolves later
   */
  async kill(): Promise<void> {
    this.#source.state = 'down';
    await Promise.all(this.#stores.map((store) => store.close()));
    const server = this.#app.getHttpServer() as Server;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
    // Stops its timers and the code that still runs. What it would say to the store fails, as it must.
    this.#ended = this.stop().catch(() => undefined);
  }

  /** Resolves when nothing of a node that was killed runs any more. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Ends it as SIGTERM does: it gives its permits back. */
  stop(): Promise<void> {
    return runAs(this.#source, () => this.#app.close());
  }
}

/** A node that was taken down sends nothing to the shared process any more. */
class EmbeddedEnvironment extends Environment {
  constructor(
    private readonly source: LogSource,
    { store, archiveUrl, variables }: Shared,
  ) {
    super({ ...variables, STORE: 'embedded', PORT: String(source.port), ARCHIVE_URL: archiveUrl }, store);
  }

  override get archiveUrl(): string {
    if (this.source.state === 'down') throw new Error(`The node on port ${this.source.port} is down`);
    return super.archiveUrl;
  }
}

/** The store calls a watch in the context of the node that wrote: without this, a line would name the wrong node. */
function boundToNode(store: Driver): Driver {
  const watch = store.watch.bind(store);
  store.watch = (prefix, onChange) => watch(prefix, AsyncResource.bind(onChange));
  return store;
}
