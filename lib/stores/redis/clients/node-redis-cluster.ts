import { randomInt } from 'node:crypto';
import { RECONNECT, pauseAfter } from '../../../core/async/backoff.js';
import { type CancelTimer, systemClock } from '../../../core/async/node-clock.js';
import {
  NOT_OPEN,
  type NodeRedis,
  type NodeRedisClient,
  type NodeRedisOptions,
  NodeRedisSubscriber,
  shut,
} from './node-redis.js';
import {
  type Arg,
  ClientAdapter,
  type Primary,
  type RedisClient,
  type Subscriber,
  type SubscriberEvents,
} from './redis-client.js';

/** A client of `createCluster()`: the parts that are used. */
interface NodeRedisCluster {
  readonly isOpen: boolean;
  /** Each once per range of slots. The client of one that is just connecting is a promise in version 4. */
  readonly masters: readonly { readonly client?: NodeRedis | Promise<NodeRedis> | undefined }[];
  nodeClient(node: object): NodeRedis | Promise<NodeRedis>;
  sendCommand(firstKey: string, isReadonly: boolean, args: Arg[]): Promise<unknown>;
  connect(): Promise<unknown>;
  duplicate(options: object): NodeRedisCluster;
  on(event: string, listener: (...args: never[]) => void): unknown;
}

/** ms for which a server may be away. */
const PATIENCE = 1000;
/** ms between attempts to connect to a server. */
const RETRY = 200;
/** ms. A server that is gone without a word would otherwise be noticed after a quarter of an hour. */
const SILENCE = 10_000;

/**
 * Makes clients with the settings of a given one. node-redis looks for the servers of a Cluster only when it connects, or
 * when a server sends it to another one. So a client that lost a server never finds the replica that took over, and a new
 * one does. It must be the store's own: the application also uses the given one.
 */
export function clusterMaker(given: NodeRedisClient): () => Promise<RedisClient> {
  const cluster = given as unknown as NodeRedisCluster;
  let defaults: NodeRedisOptions | undefined;
  return async () => {
    defaults ??= exact(await settingsOf(cluster));
    const own = { defaults, useReplicas: false, minimizeConnections: false, clientSideCache: undefined };
    return new NodeRedisClusterAdapter(cluster.duplicate(own));
  };
}

/** The settings of the connections to the servers: the Cluster does not tell its own. */
async function settingsOf(cluster: NodeRedisCluster): Promise<NodeRedisOptions> {
  if (!cluster.isOpen) throw new Error(NOT_OPEN);
  if (cluster.masters.length === 0) throw new Error('the client is not connected yet');
  const nodes = await Promise.any(cluster.masters.map(async (node) => cluster.nodeClient(node)));
  return nodes.options ?? {};
}

/** It sends nothing late, and soon gives up a server. */
function exact({ socket, ...options }: NodeRedisOptions): NodeRedisOptions {
  const { host: _host, port: _port, ...settings } = (socket ?? {}) as { host?: string; port?: number };
  return {
    pingInterval: SILENCE / 2,
    ...options,
    disableOfflineQueue: true,
    socket: {
      socketTimeout: SILENCE,
      ...settings,
      reconnectStrategy: (failures, cause) => (failures * RETRY < PATIENCE ? RETRY : cause),
    },
  };
}

/** A client of a Cluster that the store made. It can be used until a server is away for longer than {@link PATIENCE}. */
class NodeRedisClusterAdapter extends ClientAdapter implements RedisClient {
  readonly isOwn = true;
  readonly isCluster = true;
  readonly keyPrefix = '';
  readonly #opening: Promise<void>;
  #isConnected = false;
  #isReleased = false;
  #cancelLook: CancelTimer | undefined;

  constructor(private readonly client: NodeRedisCluster) {
    super();
    // Version 5 tells errors of the servers by the second event.
    for (const event of ['error', 'node-error']) client.on(event, (error: Error) => this.#failed(error));
    this.#opening = client.connect().then(
      () => this.#look(),
      (error: Error) => {
        this.lastError ??= error;
        this.changed();
      },
    );
  }

  get isReady(): boolean {
    return this.#isConnected;
  }

  get problem(): string {
    return this.lastError?.message || 'the client is not connected yet';
  }

  command(key: string, args: readonly Arg[]): Promise<unknown> {
    return this.client.sendCommand(key, false, args as Arg[]);
  }

  primaries(): readonly Primary[] {
    return this.#masters.map((node) => ({
      command: async (_key, args) => (await this.client.nodeClient(node)).sendCommand(args as Arg[]),
    }));
  }

  newSubscriber(events: SubscriberEvents): Subscriber {
    const nodes = this.#masters.flatMap(({ client }) => (client && 'duplicate' in client ? client : []));
    const node = nodes[randomInt(Math.max(nodes.length, 1))];
    if (!node) throw new Error('the client knows no primary of the Cluster yet');
    const socket = { ...node.options?.socket, reconnectStrategy: patiently };
    return new NodeRedisSubscriber(node.duplicate({ disableOfflineQueue: false, socket }), events);
  }

  newConnection(): RedisClient {
    throw new Error('A Cluster has no connection that leads to all of its servers');
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#isConnected = false;
    this.#cancelLook?.();
    void this.#opening.then(() => this.#shut());
  }

  get #masters() {
    return [...new Set(this.client.masters)];
  }

  #failed(error: Error): void {
    this.losses++;
    this.lastError = error;
    if (this.#isConnected) this.#cancelLook ??= systemClock.schedule(() => this.#look(), PATIENCE);
  }

  /** Connected for the first time, or after the patience. A server that gave up in the meantime is found away. */
  #look(): void {
    this.#cancelLook = undefined;
    this.#isConnected = !this.#isReleased && this.#masters.every(({ client }) => client && isReady(client));
    this.changed();
  }

  /** Each server by itself: the Cluster's own end fails at the first one that is closed already. */
  #shut(): void {
    for (const { client } of this.#masters) {
      if (client) Promise.resolve(client).then(shutWhenReady, () => undefined); // gave up
    }
  }
}

function isReady(client: NodeRedis | Promise<NodeRedis>): boolean {
  return 'isReady' in client && client.isReady === true;
}

/** One that is connecting either gets ready, or gives up soon. */
function shutWhenReady(client: NodeRedis): void {
  if (client.isReady) shut(client);
  else client.on('ready', () => shut(client));
}

const patiently = (failures: number): number => pauseAfter(failures, Math.random(), RECONNECT);
