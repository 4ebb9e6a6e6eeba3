import {
  type Arg,
  type Primary,
  type RedisClient,
  type Subscriber,
  type SubscriberEvents,
  patternOf,
} from './redis-client.js';

/** A client of node-redis: `createClient()` or `createCluster()`. Only what tells it from other clients. */
export interface NodeRedisClient {
  /** Whether `connect()` was called, and the client was not closed since. */
  readonly isOpen: boolean;
  /** Sends a command by its words. */
  sendCommand(...args: never[]): Promise<unknown>;
}

/** The parts that are used. */
interface NodeRedis {
  readonly isOpen: boolean;
  readonly isReady?: boolean;
  sendCommand(args: Arg[]): Promise<unknown>;
  connect(): Promise<unknown>;
  duplicate(options?: object): NodeRedis;
  on(event: string, listener: (...args: never[]) => void): unknown;
  off(event: string, listener: (...args: never[]) => void): unknown;
  /** Version 4. */
  disconnect(): Promise<unknown>;
  /** Version 5. */
  destroy?(): void;
  subscribe(channel: string, listener: (message: string, channel: string) => void): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  pSubscribe(pattern: string, listener: (message: string, channel: string) => void): Promise<unknown>;
  pUnsubscribe(pattern: string): Promise<unknown>;
}

interface NodeRedisCluster extends Omit<NodeRedis, 'sendCommand' | 'duplicate'> {
  duplicate(options?: object): NodeRedisCluster;
  readonly masters: readonly { readonly address: string }[];
  nodeClient(node: object): NodeRedis | Promise<NodeRedis>;
  sendCommand(firstKey: string, isReadonly: boolean, args: Arg[]): Promise<unknown>;
}

export function isNodeRedis(client: unknown): client is NodeRedisClient {
  const { sendCommand, isOpen, duplicate } = (client ?? {}) as Partial<NodeRedis>;
  const isKnown = isCluster(client) || typeof (client as Partial<NodeRedis> | undefined)?.isReady === 'boolean';
  return typeof sendCommand === 'function' && typeof isOpen === 'boolean' && typeof duplicate === 'function' && isKnown;
}

/**
 * Whether a client is one of `createSentinel()`, version 5. It can't be used: it sends a write again after a lost connection
 * without an event that tells, stays "ready" without a primary, and can't be duplicated for messages.
 */
export function isNodeRedisSentinel(client: unknown): boolean {
  return typeof (client as { getSentinelNode?: unknown } | undefined)?.getSentinelNode === 'function';
}

function isCluster(client: unknown): client is NodeRedisCluster {
  return typeof (client as Partial<NodeRedisCluster> | undefined)?.nodeClient === 'function';
}

/** A client of node-redis, versions 4 and 5, single or of a Cluster. */
export class NodeRedisAdapter implements RedisClient {
  readonly isCluster: boolean;
  readonly keyPrefix = '';
  losses = 0;
  readonly #ends: (() => void)[] = [];
  readonly #listeners = new Set<() => void>();
  #lastError: Error | undefined;

  constructor(
    client: NodeRedisClient,
    readonly isOwn = false,
  ) {
    this.client = client as unknown as NodeRedis | NodeRedisCluster;
    this.isCluster = isCluster(client);
    for (const event of ['ready', 'reconnecting', 'end', 'connect']) this.#on(event, () => this.#changed());
    this.#on('error', (error) => {
      this.#lastError = error as Error;
      this.losses++;
      this.#changed();
    });
  }

  readonly client: NodeRedis | NodeRedisCluster;

  get isReady(): boolean {
    const { client } = this;
    return isCluster(client) ? client.isOpen && client.masters.length > 0 : client.isReady === true;
  }

  get problem(): string {
    if (!this.client.isOpen) return 'the client is not open: call its connect()';
    return this.#lastError?.message || 'the client is not connected yet';
  }

  command(key: string, args: readonly Arg[]): Promise<unknown> {
    const { client } = this;
    return isCluster(client) ? client.sendCommand(key, false, args as Arg[]) : client.sendCommand(args as Arg[]);
  }

  primaries(): readonly Primary[] {
    const { client } = this;
    if (!isCluster(client)) return [{ command: (args) => client.sendCommand(args as Arg[]) }];
    return client.masters.map((node) => ({
      command: async (args) => (await client.nodeClient(node)).sendCommand(args as Arg[]),
    }));
  }

  newSubscriber(events: SubscriberEvents): Subscriber {
    return new NodeRedisSubscriber(this.client.duplicate({ disableOfflineQueue: false }), events);
  }

  newConnection(): RedisClient {
    const client = this.client.duplicate({ disableOfflineQueue: true });
    const adapter = new NodeRedisAdapter(client, true);
    open(client);
    return adapter;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  release(): void {
    for (const end of this.#ends.splice(0)) end();
    if (!this.isOwn) return;
    shut(this.client);
  }

  #changed(): void {
    if (this.isReady) this.#lastError = undefined;
    for (const listener of this.#listeners) listener();
  }

  #on(event: string, listener: (argument: unknown) => void): void {
    this.client.on(event, listener);
    this.#ends.push(() => this.client.off(event, listener));
  }
}

/** Connects in the background: the client tries again by itself, and its event "error" says why it fails. */
export function open(client: Pick<NodeRedis, 'connect'>): void {
  client.connect().catch(() => undefined);
}

function shut(client: Pick<NodeRedis, 'isOpen' | 'destroy' | 'disconnect' | 'on'>): void {
  client.on('error', () => undefined); // an attempt to connect may still be under way
  if (!client.isOpen) return;
  if (client.destroy) client.destroy();
  else client.disconnect().catch(() => undefined); // it is closed all the same
}

class NodeRedisSubscriber implements Subscriber {
  readonly #listener: (message: string, channel: string) => void;
  readonly #opening: Promise<unknown>;
  #isEnding = false;

  constructor(
    private readonly client: NodeRedis | NodeRedisCluster,
    events: SubscriberEvents,
  ) {
    this.#listener = (message, channel) => this.#isEnding || events.onMessage(channel, message);
    let isFirst = true;
    client.on('error', () => undefined); // it connects again by itself; the store's other connection reports problems
    client.on('ready', () => {
      if (!isFirst && !this.#isEnding) events.onReconnected();
      isFirst = false;
    });
    this.#opening = client.connect();
    this.#opening.catch(() => undefined); // each subscription reports it
  }

  get isClosed(): boolean {
    return !this.client.isOpen;
  }

  async subscribe(channel: string): Promise<void> {
    await this.#opening;
    await this.client.subscribe(channel, this.#listener);
  }

  async unsubscribe(channel: string): Promise<void> {
    await this.client.unsubscribe(channel);
  }

  async subscribePrefix(prefix: string): Promise<void> {
    await this.client.pSubscribe(patternOf(prefix), this.#listener);
  }

  async unsubscribePrefix(prefix: string): Promise<void> {
    await this.client.pUnsubscribe(patternOf(prefix));
  }

  close(): void {
    this.#isEnding = true;
    shut(this.client);
  }
}
