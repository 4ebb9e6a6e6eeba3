import { systemClock } from '../../../core/async/node-clock.js';
import {
  type Arg,
  ClientAdapter,
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
export interface NodeRedis {
  readonly isOpen: boolean;
  readonly isReady?: boolean;
  readonly options?: NodeRedisOptions;
  sendCommand(args: Arg[]): Promise<unknown>;
  connect(): Promise<unknown>;
  duplicate(options?: NodeRedisOptions): NodeRedis;
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

/** Those that are used. */
export interface NodeRedisOptions {
  readonly disableOfflineQueue?: boolean;
  readonly pingInterval?: number;
  readonly socket?: {
    readonly socketTimeout?: number;
    readonly reconnectStrategy?: (failures: number, cause: Error) => number | Error;
  };
}

export function isNodeRedis(client: unknown): client is NodeRedisClient {
  const { sendCommand, isOpen, duplicate } = (client ?? {}) as Partial<NodeRedis>;
  const isKnown =
    isNodeRedisCluster(client) || typeof (client as Partial<NodeRedis> | undefined)?.isReady === 'boolean';
  return typeof sendCommand === 'function' && typeof isOpen === 'boolean' && typeof duplicate === 'function' && isKnown;
}

/** Whether a client is one of `createCluster()`. */
export function isNodeRedisCluster(client: unknown): boolean {
  return typeof (client as { nodeClient?: unknown } | undefined)?.nodeClient === 'function';
}

/**
 * Whether a client is one of `createSentinel()`, version 5. It can't be used: it sends a write again after a lost connection
 * without an event that tells, stays "ready" without a primary, and can't be duplicated for messages.
 */
export function isNodeRedisSentinel(client: unknown): boolean {
  return typeof (client as { getSentinelNode?: unknown } | undefined)?.getSentinelNode === 'function';
}

/** A client of node-redis, versions 4 and 5, of one server. */
export class NodeRedisAdapter extends ClientAdapter implements RedisClient {
  readonly isCluster = false;
  readonly keyPrefix = '';
  readonly #closer: Closer | undefined;

  constructor(
    client: NodeRedisClient,
    readonly isOwn = false,
  ) {
    super();
    this.client = client as unknown as NodeRedis;
    this.#closer = isOwn ? new Closer(this.client) : undefined;
    for (const event of ['ready', 'reconnecting', 'end', 'connect'])
      this.listen(this.client, event, () => this.changed());
    this.listen(this.client, 'error', (error) => {
      this.lastError = error as Error;
      this.losses++;
      this.changed();
    });
  }

  readonly client: NodeRedis;

  get isReady(): boolean {
    return this.client.isReady === true;
  }

  get problem(): string {
    if (!this.client.isOpen) return NOT_OPEN;
    return this.lastError?.message || 'the client is not connected yet';
  }

  command(_key: string, args: readonly Arg[]): Promise<unknown> {
    return this.client.sendCommand(args as Arg[]);
  }

  primaries(): readonly Primary[] {
    return [this];
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

  release(): void {
    this.stopListening();
    this.#closer?.close();
  }
}

export const NOT_OPEN = 'the client is not open: call its connect()';

/** Connects in the background: the client tries again by itself, and its event "error" says why it fails. */
export function open(client: Pick<NodeRedis, 'connect'>): void {
  client.connect().catch(() => undefined);
}

/** Closes a client for good. A socket that is just connecting stays open. */
export function shut(client: NodeRedis): void {
  if (!client.isOpen) return;
  if (client.destroy) client.destroy();
  else client.disconnect().catch(() => undefined); // it is closed all the same
}

/** Closes a client that the store made. Needed from before it connects. */
class Closer {
  #isConnecting = true;
  #isClosing = false;

  constructor(private readonly client: NodeRedis) {
    client.on('error', () => this.#hasSettled());
    // In the next turn: version 4 leaves the commands of its greeting unhandled if it is closed before it sent them.
    client.on('connect', () => systemClock.nextTurn(() => this.#hasSettled()));
    client.on('reconnecting', () => (this.#isConnecting = true));
  }

  /** Waits for the attempt to connect that is under way: its socket would stay open for ever. */
  close(): void {
    this.#isClosing = true;
    if (!this.#isConnecting) shut(this.client);
  }

  #hasSettled(): void {
    this.#isConnecting = false;
    if (this.#isClosing) shut(this.client);
  }
}

/** Receives messages over one connection. */
export class NodeRedisSubscriber implements Subscriber {
  readonly #listener: (message: string, channel: string) => void;
  readonly #opening: Promise<unknown>;
  readonly #closer: Closer;
  #isEnding = false;

  constructor(
    private readonly client: NodeRedis,
    events: SubscriberEvents,
  ) {
    this.#listener = (message, channel) => this.#isEnding || events.onMessage(channel, message);
    let isFirst = true;
    this.#closer = new Closer(client); // ignores errors: it connects again by itself, and the store's other connection reports problems
    client.on('ready', () => {
      if (!isFirst && !this.#isEnding) events.onReconnected();
      isFirst = false;
    });
    client.on('reconnecting', () => this.#isEnding || events.onLost());
    this.#opening = client.connect();
    this.#opening.catch(() => undefined); // each subscription reports it
  }

  async subscribe(channel: string, isPrefix = false): Promise<void> {
    await this.#opening;
    if (isPrefix) await this.client.pSubscribe(patternOf(channel), this.#listener);
    else await this.client.subscribe(channel, this.#listener);
  }

  async unsubscribe(channel: string, isPrefix = false): Promise<void> {
    await (isPrefix ? this.client.pUnsubscribe(patternOf(channel)) : this.client.unsubscribe(channel));
  }

  close(): void {
    this.#isEnding = true;
    this.#closer.close();
  }
}
