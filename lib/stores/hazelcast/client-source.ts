import type { ClientConfig, Client as HazelcastClient, ILogger, LifecycleState, LogLevel } from 'hazelcast-client';
import loadHazelcastClient from '../../../load-hazelcast-client.cjs';
import { escapeHidden } from '../../core/decision/texts/hidden-characters.js';
import { LISTENER_DROPPED } from './client-patches/dropped-listeners.js';
import { startClient } from './client-patches/hung-start.js';
import { onLifecycle } from './client-patches/lifecycle-events.js';
import { type ClientLogger, FAIL_ON_INDETERMINATE_STATE, type ResolvedOwnOptions } from './hazelcast.options.js';

/** A client with a connection to the cluster. */
export interface LiveClient {
  readonly client: HazelcastClient;
  /** Aborts when the client has lost the cluster, or no longer runs. */
  readonly lost: AbortSignal;
  /** Ends the use of the client. Closes it, unless the application owns it. */
  release(): Promise<void>;
}

/** Source of clients: made and closed by the store, or owned by the application. */
export interface ClientSource {
  /** @throws if there is no connected client now; a later call may succeed */
  connect(): Promise<LiveClient>;
}

/**
 * Values of the enum LifecycleState, written here so that the client's module need not be loaded. A client that fails
 * to connect shuts down late, perhaps when a test runner no longer allows modules to be loaded. An error in the
 * listener would then stop the shutdown.
 */
const LOST: ReadonlySet<string> = new Set(['DISCONNECTED', 'SHUTTING_DOWN', 'SHUTDOWN']);

/** Uses the application's client, which reconnects by its own config. Never closes it. */
export class GivenClient implements ClientSource {
  constructor(readonly client: HazelcastClient) {}

  async connect(): Promise<LiveClient> {
    const { client } = this;
    if (!client.getLifecycleService().isRunning())
      throw new Error('the client that was passed in has been shut down: pass a running one');
    const lost = new AbortController();
    const stopListening = onLifecycle(client, (state) => LOST.has(state) && lost.abort());
    const release = async () => {
      stopListening();
      // Node keeps a source signal while signals that were derived from it have listeners.
      lost.abort();
    };
    return { client, lost: lost.signal, release };
  }
}

/** Creates a new client for each connection. */
export class OwnClient implements ClientSource {
  #knownMembers: readonly string[] = [];

  constructor(readonly options: ResolvedOwnOptions) {}

  async connect(): Promise<LiveClient> {
    const lost = new AbortController();
    const log = new ClientLog(this.options.logger, (source) => {
      if (source === LISTENER_DROPPED) lost.abort();
    });
    const client = await this.#newClient(log, lost);
    lost.signal.addEventListener('abort', () => this.#rememberMembers(client));
    return { client, lost: lost.signal, release: () => client.shutdown() };
  }

  async #newClient(log: ClientLog, lost: AbortController): Promise<HazelcastClient> {
    const onState = (state: LifecycleState) => LOST.has(state) && lost.abort();
    const config = ownClientConfig(this.options, { log, onState, knownMembers: this.#knownMembers });
    try {
      return await startClient(config, lost.signal);
    } catch (error) {
      throw log.firstWarning === undefined ? error : new Error(log.firstWarning, { cause: error });
    }
  }

  #rememberMembers(client: HazelcastClient): void {
    this.#knownMembers = client
      .getCluster()
      .getMembers()
      .map(({ address }) => `${address.host}:${address.port}`);
  }
}

interface ConnectionHooks {
  readonly log: ClientLog;
  readonly onState: (state: LifecycleState) => void;
  /** Members that the last client knew. They are used too, because the configured ones may be gone. */
  readonly knownMembers: readonly string[];
}

/** Creates the config of a client that tries each address once, and shuts down when it loses the cluster. */
export function ownClientConfig(options: ResolvedOwnOptions, hooks: ConnectionHooks): ClientConfig {
  const { clientConfig, clusterName, clockName, members } = options;
  return {
    ...clientConfig,
    clusterName,
    customLogger: hooks.log,
    network: {
      connectionTimeout: 3000,
      ...clientConfig.network,
      clusterMembers: [...new Set([...members, ...hooks.knownMembers])],
      redoOperation: false,
    },
    connectionStrategy: oneConnection(),
    metrics: { ...METRICS, ...clientConfig.metrics },
    flakeIdGenerators: { ...clientConfig.flakeIdGenerators, [`${clockName}*`]: { prefetchCount: 1 } },
    lifecycleListeners: [...(clientConfig.lifecycleListeners ?? []), hooks.onState],
    properties: { ...PROPERTIES, ...clientConfig.properties, [FAIL_ON_INDETERMINATE_STATE]: true },
  };
}

/**
 * Turns off the client's own retries; connection.ts does them. The client's retries can't be stopped: nothing can be
 * shut down before `newHazelcastClient` resolves, and its pauses keep the process alive. `asyncStart` would return a
 * client at once, but that client never connects to a second member (5.6.0). With a new client per connection, no
 * listener is lost or doubled, and no old member list is used.
 */
function oneConnection(): ClientConfig['connectionStrategy'] {
  return {
    asyncStart: false,
    reconnectMode: loadHazelcastClient().ReconnectMode.OFF,
    connectionRetry: { clusterConnectTimeoutMillis: 0 },
  };
}

/**
 * A default that the user's clientConfig may change. The client packs its metrics for Hazelcast's Management Center, every
 * 5 s by its own default. That costs 0.04 % of a core.
 */
const METRICS: ClientConfig['metrics'] = { collectionFrequencySeconds: 30 };

/** Defaults that the user's clientConfig may change. */
const PROPERTIES: ClientConfig['properties'] = {
  // By default the client keeps a silent member for 60 s, and retries a failed call for 120 s. The shipped
  // hazelcast.yaml drops a member after 10 s, and no write may be retried long after its caller gave up.
  'hazelcast.client.heartbeat.interval': 2000,
  'hazelcast.client.heartbeat.timeout': 10_000,
  'hazelcast.client.invocation.timeout.millis': 10_000,
  // The client looks this often for calls whose connection has ended. Its default of 100 costs 0.08 % of a core more: an
  // eighth of all that a node with an idle worker needs.
  'hazelcast.client.internal.clean.resources.millis': 500,
};

/** Methods of the log, by the number of their LogLevel. */
const METHODS: readonly ('error' | 'warn' | 'info' | 'debug')[] = ['error', 'warn', 'info', 'debug'];

/**
 * Forwards the client's log, and also reads it: only the log shows why a connection failed, or that a listener was
 * lost.
 */
export class ClientLog implements ILogger {
  /** The first warning. While the client connects, this is why the first address failed; later warnings repeat it. */
  firstWarning?: string;

  constructor(
    readonly logger: ClientLogger | undefined,
    readonly onWarning: (source: string) => void,
  ) {}

  error(source: string, message: string, detail?: unknown): void {
    this.logger?.error(line(source, message, detail));
  }

  warn(source: string, message: string, detail?: unknown): void {
    this.firstWarning ??= message;
    this.logger?.warn(line(source, message, detail));
    this.onWarning(source);
  }

  info(source: string, message: string, detail?: unknown): void {
    this.logger?.log(line(source, message, detail));
  }

  debug(source: string, message: string, detail?: unknown): void {
    this.logger?.debug?.(line(source, message, detail));
  }

  trace(): void {}

  log(level: LogLevel, source: string, message: string, detail?: unknown): void {
    const method = METHODS[level];
    if (method) this[method](source, message, detail);
  }
}

function line(source: string, message: string, detail: unknown): string {
  const what = detail === undefined || detail === null ? message : `${message} (${String(detail)})`;
  return escapeHidden(`${source}: ${what}`);
}
