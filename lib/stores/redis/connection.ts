import { aborted } from '../../core/async/aborted.js';
import { RECONNECT, pauseAfter } from '../../core/async/backoff.js';
import { systemClock } from '../../core/async/node-clock.js';
import { Wakeup } from '../../core/async/wakeup.js';
import { messageOf } from '../../core/decision/index.js';
import { atMost } from '../../core/store/at-most.js';
import { FirstAttempt } from '../../core/store/first-attempt.js';
import { StoreUnavailableError } from '../../core/store/store.errors.js';
import type { RedisClient } from './clients/redis-client.js';
import { connectionProblem } from './failures.js';
import type { Writer } from './writer.js';

/** ms */
const LONGEST_FIRST_ATTEMPT = 5000;

const LOST = 'the connection was lost; connecting again';

/** ms */
const LONGEST_FAREWELL = 1000;

/** The objects that calls need while the server can be reached. */
export interface Session {
  readonly client: RedisClient;
  /** Aborts when the session ends. */
  readonly ended: AbortSignal;
  /** Sends what changes data: over the client itself, or over a connection that waits for replicas. */
  readonly writer: Writer;
}

interface Needs {
  /** The servers in words, without secrets. */
  readonly place: string;
  readonly newClient: () => Promise<RedisClient>;
  /** @param ended aborts when the session, or the attempt to open it, has ended */
  readonly open: (client: RedisClient, ended: AbortSignal) => Promise<Session>;
  /** There is a session, for the first time or again. */
  readonly opened: () => void;
  /** The session is about to end, because its server turned out to be a replica. */
  readonly suspected: () => void;
}

/**
 * Keeps a session open until it is closed. The client connects again by itself; a session begins when a server has
 * answered, and ends when the client loses it, or when the server turns out to be no primary any more.
 */
export class Connection {
  /** Defined only while connected. Cleared at the moment when the connection is lost. */
  session: Session | undefined;
  /** The reason why there is no session. */
  problem = 'the first attempt to connect is under way';
  /** Whether the store is closed: then calls fail, also before the session ends. */
  isClosed = false;

  readonly #firstAttempt = new FirstAttempt();
  readonly #wakeup = new Wakeup(systemClock);
  #client: RedisClient | undefined;
  /** Ends the present session, or the attempt to open it. */
  #ending = new AbortController();

  constructor(private readonly needs: Needs) {
    void this.#keepConnected();
  }

  /** @throws StoreUnavailableError if there is no session */
  connected(): Session {
    if (!this.session || this.isClosed) throw this.unavailable();
    return this.session;
  }

  /**
   * Right after the start, a read waits for the first attempt to connect. A write needs no wait: it follows a read.
   *
   * @param patience ms
   * @throws StoreUnavailableError if there is no session then
   */
  async connecting(patience: number): Promise<Session> {
    if (!this.#firstAttempt.isOver) await this.#firstAttempt.wait(patience);
    return this.connected();
  }

  /** The error of a call that finds no session. */
  unavailable(): StoreUnavailableError {
    if (this.isClosed) return new StoreUnavailableError('The Redis store is closed: open another one');
    return new StoreUnavailableError(`Not connected to ${this.needs.place}: ${this.problem}`);
  }

  /** Ends a session, because its server must be examined before it is used again. */
  suspect(session: Session, problem: string): void {
    if (this.session !== session) return;
    this.needs.suspected();
    this.#end(problem);
  }

  /** @param farewell sends the last commands; it gets a limited time */
  async close(farewell: (client: RedisClient) => Promise<void>): Promise<void> {
    this.isClosed = true;
    if (this.session) await atMost(LONGEST_FAREWELL, farewell(this.session.client));
    this.#end('the store is closed');
    this.#client?.release();
    this.#firstAttempt.end();
    this.#wakeup.ring();
  }

  async #keepConnected(): Promise<void> {
    for (let failures = 0; !this.isClosed; failures++) {
      this.#wakeup.reset();
      try {
        await this.#serve(await this.#theClient());
        failures = 0;
      } catch (error) {
        this.problem = connectionProblem(messageOf(error));
      }
      this.#firstAttempt.end();
      this.#leaveServer();
      if (!this.isClosed) await this.#wakeup.wait(pauseAfter(failures, Math.random(), RECONNECT), false);
    }
  }

  async #theClient(): Promise<RedisClient> {
    if (this.#client) return this.#client;
    const client = await this.needs.newClient();
    this.#client = client;
    client.onChange(this.#wakeup.ring);
    if (this.isClosed) client.release();
    // A new client is only about to connect.
    if (!client.isReady) await this.#wakeup.wait(LONGEST_FIRST_ATTEMPT, false);
    this.#wakeup.reset(); // else the pause after a failed attempt would be skipped
    return client;
  }

  /**
   * A client that is connected to a server that can't be used would stay there, also when its address leads elsewhere. One of
   * a Cluster finds the servers only when it is new.
   */
  #leaveServer(): void {
    const { isOwn, isReady, isCluster } = this.#client ?? {};
    if (!isOwn || !(isReady || isCluster)) return;
    this.#client!.release();
    this.#client = undefined;
  }

  async #serve(client: RedisClient): Promise<void> {
    if (!client.isReady) throw new Error(client.problem);
    const ending = (this.#ending = new AbortController());
    const stopListening = client.onChange(() => client.isReady || this.#end(LOST));
    try {
      const session = await this.needs.open(client, ending.signal);
      ending.signal.throwIfAborted();
      if (this.isClosed) return;
      this.session = session;
      this.#firstAttempt.end();
      this.needs.opened();
      await aborted(ending.signal);
    } finally {
      stopListening();
      ending.abort();
      this.session = undefined;
    }
  }

  /** In the client's event itself, so that no further call is sent. */
  #end(problem: string): void {
    this.session = undefined;
    this.problem = problem;
    this.#ending.abort(new Error(problem));
  }
}
