import { randomInt } from 'node:crypto';
import { RECONNECT, pauseAfter } from '../../../core/async/backoff.js';
import {
  type Arg,
  ClientAdapter,
  type Primary,
  type RedisClient,
  type Subscriber,
  type SubscriberEvents,
  patternOf,
} from './redis-client.js';

/** A client of ioredis: `new Redis()` or `new Cluster()`. Only what tells it from other clients. */
export interface IoredisClient {
  /** State of the connection: "ready". */
  readonly status: string;
  /** Sends a command by its name. */
  call(command: string, ...args: string[]): Promise<unknown>;
}

/** The parts that are used. */
interface Ioredis {
  readonly status: string;
  readonly isCluster: boolean;
  readonly options: {
    readonly keyPrefix?: string;
    readonly role?: string;
    readonly scaleReads?: unknown;
  };
  call(command: string, ...args: Arg[]): Promise<unknown>;
  subscribe(...channels: string[]): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  psubscribe(...patterns: string[]): Promise<unknown>;
  punsubscribe(pattern: string): Promise<unknown>;
  duplicate(...options: object[]): Ioredis;
  on(event: string, listener: (...args: never[]) => void): unknown;
  off(event: string, listener: (...args: never[]) => void): unknown;
  disconnect(): void;
}

interface IoredisCluster extends Ioredis {
  nodes(role: 'all' | 'master'): Ioredis[];
}

export function isIoredis(client: unknown): client is IoredisClient {
  const { call, status, duplicate } = (client ?? {}) as Partial<Ioredis>;
  return typeof call === 'function' && typeof status === 'string' && typeof duplicate === 'function';
}

/** Finds settings of a given client by which reads would come from replicas, whose data are old. */
export function ioredisFaults(client: IoredisClient): string[] {
  const { isCluster, options } = client as unknown as Ioredis;
  const { role, scaleReads = 'master' } = options;
  if (role === 'slave')
    return ["it connects to replicas (role: 'slave'): their data are old, so connect to the primary"];
  if (isCluster && scaleReads !== 'master')
    return ["it reads from replicas (scaleReads): their data are old, so use scaleReads: 'master'"];
  return [];
}

/** A Cluster connects to a lost server only when it finds it again. */
const OF_ONE_SERVER = {
  readOnly: false,
  retryStrategy: (attempts: number) => pauseAfter(attempts - 1, Math.random(), RECONNECT),
};

const CLOSED_ADVICE =
  'check that it is a Redis, and that it accepts clients of other machines (protected-mode, or set a password)';

/** A client of ioredis, single or of a Cluster. */
export class IoredisAdapter extends ClientAdapter implements RedisClient {
  readonly isCluster: boolean;
  readonly keyPrefix: string;
  /** Whether the present attempt to connect had no error yet. */
  #isNewAttempt = true;

  constructor(
    client: IoredisClient,
    readonly isOwn = false,
  ) {
    super();
    this.client = client as unknown as IoredisCluster;
    this.isCluster = this.client.isCluster === true;
    this.keyPrefix = this.client.options.keyPrefix ?? '';
    for (const event of ['ready', 'close', 'end']) this.listen(this.client, event, () => this.changed());
    this.listen(this.client, 'connecting', () => (this.#isNewAttempt = true));
    this.listen(this.client, 'error', (error) => this.#failed(error as Error));
    if (!this.isCluster) this.listen(this.client, 'close', () => this.#lost(this.client));
    else this.#watchNodes();
  }

  readonly client: IoredisCluster;

  get isReady(): boolean {
    return this.client.status === 'ready';
  }

  get problem(): string {
    const { status } = this.client;
    if (status === 'end') return 'the client is closed, and does not connect again';
    if (this.lastError) return this.lastError.message || 'the client failed to connect without a reason';
    // So does a Redis in protected mode: its error is the reply to a command whose outcome ioredis ignores.
    if (this.losses > 0) return `the server closed the connection (${status}); ${CLOSED_ADVICE}`;
    return `the client is not connected yet (${status})`;
  }

  command(_key: string, [name, ...args]: readonly Arg[]): Promise<unknown> {
    return this.client.call(name as string, ...args);
  }

  primaries(): readonly Primary[] {
    if (!this.isCluster) return [this];
    const nodes = this.client.nodes('master');
    return nodes.map((node) => ({ command: (_key, [name, ...args]) => node.call(name as string, ...args) }));
  }

  newSubscriber(events: SubscriberEvents): Subscriber {
    // A subscription may wait for the connection. On a new one, the subscriber repeats it.
    const patient = { enableOfflineQueue: true, autoResendUnfulfilledCommands: true, maxRetriesPerRequest: null };
    return new IoredisSubscriber(this.#duplicate({ ...patient, autoResubscribe: false }), events);
  }

  newConnection(): RedisClient {
    const exact = { autoResendUnfulfilledCommands: false, enableOfflineQueue: false, maxRetriesPerRequest: 0 };
    return new IoredisAdapter(this.#duplicate({ ...exact, keyPrefix: this.keyPrefix }), true);
  }

  release(): void {
    this.stopListening();
    if (!this.isOwn) return;
    this.client.on('error', () => undefined); // an attempt to connect may still be under way
    this.client.on('close', () => endSocketTimeout(this.client));
    this.client.disconnect();
  }

  #duplicate(options: object): Ioredis {
    // failoverDetector can close a client for good when a failover ends while the client connects again.
    const own = { keyPrefix: '', failoverDetector: false, lazyConnect: false, connectionName: undefined, ...options };
    return this.isCluster ? this.#anyPrimary().duplicate({ ...own, ...OF_ONE_SERVER }) : this.client.duplicate(own);
  }

  /** An event of a Cluster would not say that the connection for messages was replaced, and that messages were missed. */
  #anyPrimary(): Ioredis {
    const primaries = this.client.nodes('master');
    const primary = primaries[randomInt(Math.max(primaries.length, 1))];
    if (!primary) throw new Error('the client knows no primary of the Cluster yet');
    return primary;
  }

  /** Only the first error of an attempt says the reason: after a wrong password, the next one says that there is none. */
  #failed(error: Error): void {
    if (this.#isNewAttempt) this.lastError = error;
    this.#isNewAttempt = false;
  }

  /** The Cluster sends a command again when the connection to one server broke. Its own events don't tell. */
  #watchNodes(): void {
    for (const node of this.client.nodes('all')) this.#countLosses(node);
    this.listen(this.client, '+node', (node) => this.#countLosses(node as Ioredis));
  }

  /** Until the client of a server has ended: the Cluster makes a new one then, and drops this one. */
  #countLosses(node: Ioredis): void {
    const stopCounting = this.listen(node, 'close', () => this.#lost(node));
    const stopWatching = this.listen(node, 'end', () => {
      stopCounting();
      stopWatching();
    });
  }

  #lost(client: Ioredis): void {
    this.losses++;
    endSocketTimeout(client);
  }
}

class IoredisSubscriber implements Subscriber {
  readonly #closing = new AbortController();
  /** Resolves when the client is ready, or closed for good. Undefined: no subscription waits for that. */
  #change: Promise<void> | undefined;
  readonly #channels = new Set<string>();
  readonly #prefixes = new Set<string>();

  constructor(
    private readonly client: Ioredis,
    private readonly events: SubscriberEvents,
  ) {
    const { signal } = this.#closing;
    let isFirst = true;
    client.on('error', () => undefined); // it connects again by itself; the store's other connection reports problems
    client.on('ready', () => {
      if (!isFirst && !signal.aborted) void this.#resubscribe();
      isFirst = false;
    });
    client.on('close', () => {
      endSocketTimeout(client);
      if (!signal.aborted) events.onLost();
    });
    const heard = (channel: string, message: string) => signal.aborted || events.onMessage(channel, message);
    client.on('message', heard);
    client.on('pmessage', (_pattern: string, channel: string, message: string) => heard(channel, message));
  }

  get #isClosed(): boolean {
    return this.client.status === 'end';
  }

  async subscribe(channel: string, isPrefix = false): Promise<void> {
    await this.#ready();
    await (isPrefix ? this.client.psubscribe(patternOf(channel)) : this.client.subscribe(channel));
    (isPrefix ? this.#prefixes : this.#channels).add(channel);
  }

  async unsubscribe(channel: string, isPrefix = false): Promise<void> {
    (isPrefix ? this.#prefixes : this.#channels).delete(channel);
    await this.#ready();
    await (isPrefix ? this.client.punsubscribe(patternOf(channel)) : this.client.unsubscribe(channel));
  }

  /** ioredis would do it by itself, but leaves a rejection unhandled if the client is closed meanwhile. */
  async #resubscribe(): Promise<void> {
    const [channels, patterns] = [[...this.#channels], [...this.#prefixes].map(patternOf)];
    try {
      await Promise.all([
        channels.length > 0 && this.client.subscribe(...channels),
        patterns.length > 0 && this.client.psubscribe(...patterns),
      ]);
      if (!this.#closing.signal.aborted) this.events.onReconnected();
    } catch {
      // Refused, or lost again. The owner tests the connection, and reports what fails then.
      if (!this.#closing.signal.aborted) this.events.onLost();
    }
  }

  /**
   * ioredis sends a subscription already while it checks whether the server is ready. Its check then fails, because INFO is
   * forbidden on a connection with subscriptions, and all subscriptions with it.
   */
  #ready(): Promise<void> {
    const { client } = this;
    if (client.status === 'ready') return Promise.resolve();
    if (this.#isClosed) return Promise.reject(new Error('the connection for messages is closed'));
    this.#change ??= this.#nextChange();
    return this.#change.then(() => this.#ready());
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => {
      const changed = () => {
        for (const event of ['ready', 'end']) this.client.off(event, changed);
        this.#change = undefined;
        resolve();
      };
      for (const event of ['ready', 'end']) this.client.on(event, changed);
    });
  }

  close(): void {
    this.#closing.abort();
    if (!this.#isClosed) this.client.disconnect(); // that of a closed client would keep the process alive for 2 s
  }
}

/** The timer of ioredis for its option `socketTimeout`. */
interface Timed {
  socketTimeoutTimer?: NodeJS.Timeout | undefined;
}

/**
 * Call this when a connection has closed. Up to version 5.11, ioredis leaves the timer of its `socketTimeout` running if
 * the connection closes before an answer. The timer then breaks the next connection, in good health, and keeps a process
 * alive that has closed its clients.
 */
function endSocketTimeout(client: object): void {
  const timed = client as Timed;
  if (timed.socketTimeoutTimer === undefined) return;
  clearTimeout(timed.socketTimeoutTimer);
  timed.socketTimeoutTimer = undefined; // else ioredis begins no other
}
