import { mkdir } from 'node:fs/promises';
import { PostgresServer } from '../../support/postgres-server.js';
import { RedisServer } from '../../support/redis-server.js';
import { SwitchableProxy } from '../../../test/support/switchable-proxy.js';
import type { FaultSite } from './fault-site.js';
import { Loopback } from './network.js';
import type { ServerStoreName } from './stores.js';
import { CLIENTS } from './test-bed.js';

/** Each write waits for the disk. So the server loses nothing when it is killed. */
const KEEPS_ALL = { appendonly: 'yes', appendfsync: 'always' };

/** One server, and a proxy for each client, which can cut it off. */
export class ServerSite implements FaultSite {
  readonly network = new Loopback();
  readonly #proxies: SwitchableProxy[] = [];

  private constructor(
    readonly options: { readonly store: ServerStoreName; readonly folder: string },
    private server: PostgresServer | RedisServer,
  ) {}

  static async open(options: ServerSite['options']): Promise<ServerSite> {
    await mkdir(options.folder, { recursive: true });
    const { store } = options;
    const server = store === 'postgres' ? await PostgresServer.start() : await RedisServer.start(KEEPS_ALL);
    const site = new ServerSite(options, server);
    for (let client = 1; client <= CLIENTS; client++) site.#proxies.push(await SwitchableProxy.start(server.port));
    return site;
  }

  get proxies(): readonly SwitchableProxy[] {
    return this.#proxies;
  }

  /** Ends the server at once, as a crash would. */
  kill(): Promise<void> {
    return this.server.kill();
  }

  /** On the data that are there. */
  restart(): Promise<void> {
    return this.server.restart();
  }

  /** @returns a function that lets the server go on */
  async freeze(): Promise<() => void> {
    const { server } = this;
    if (server instanceof PostgresServer) return server.freeze();
    server.freeze();
    return () => server.thaw();
  }

  /** Starts a replica of the Redis, which has all data of this moment. */
  async replica(): Promise<RedisServer> {
    if (!(this.server instanceof RedisServer)) throw new Error('only a Redis gets a replica here');
    const replica = await RedisServer.start(KEEPS_ALL);
    await replica.follow(this.server);
    return replica;
  }

  /** Kills the server, and sends all clients to another one. */
  async failOver(next: RedisServer): Promise<void> {
    const former = this.server;
    await former.kill();
    this.server = next;
    for (const proxy of this.#proxies) proxy.switchTo(next.port);
    await former[Symbol.asyncDispose]();
  }

  settings(client: number) {
    const proxy = this.#proxies[client - 1]!;
    const url = this.server instanceof PostgresServer ? this.server.address() : this.server.url;
    return { clusterName: '', members: [], server: url.replace(`:${this.server.port}`, `:${proxy.port}`) };
  }

  /** Clients connect by themselves. */
  async whole(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {
    for (const proxy of this.#proxies.splice(0)) await proxy[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
  }
}
