import { randomInt } from 'node:crypto';
import type { StoreHealth } from '../../core/store/store-health.js';
import type {
  ClockReading,
  Driver,
  HintQueue,
  Journal,
  OpenOptions,
  OrderedCollection,
  RecordChange,
  RecordCollection,
  TextCollection,
} from '../../core/store/driver.js';
import { messageOf } from '../../core/decision/index.js';
import { LastProblem } from '../../core/store/call-health.js';
import { HintsAfterWrites } from '../../core/store/hints-after-writes.js';
import { PrefixWatches } from '../../core/store/prefix-watches.js';
import { Calls } from './calls.js';
import { ChangeFeed, MessageHeartbeat } from './change-feed.js';
import type { RedisClient } from './clients/redis-client.js';
import { Connection, type Session } from './connection.js';
import { readFailure } from './failures.js';
import { Poller, RedisQueue } from './hint-queues.js';
import { Keys } from './keys.js';
import { FailoverMarker, openSession } from './open-session.js';
import type { ResolvedOptions } from './redis.options.js';
import { COMPARE_AND_SET, COMPARE_AND_SET_DURABLE } from './scripts.js';
import { type ServerFacts, assertUsable, lookAt } from './server-facts.js';
import { StreamJournal } from './stream-journal.js';
import { HashTexts, Records, RedisTasks } from './texts.js';

const CALL_TIMEOUT = 2000;

/** Keeps records as strings, tasks and groups in hashes, in Redis or Valkey. Scripts change them; cluster time from TIME. */
export class RedisDriver implements Driver {
  readonly records: RecordCollection;
  readonly tasks: OrderedCollection;
  readonly groups: TextCollection;
  readonly #keys: Keys;
  readonly #watches = new PrefixWatches();
  readonly #feed: ChangeFeed;
  readonly #heartbeat = new MessageHeartbeat(() => this.#testMessages());
  readonly #connection: Connection;
  readonly #calls: Calls;
  readonly #poller: Poller;
  readonly #afterWrites: HintsAfterWrites;
  /** Absent for a durable server. */
  readonly #origins: FailoverMarker | undefined;
  /** Advice of servers that may drop records, by the name of the server. */
  readonly #evictions = new Map<string, string>();
  readonly #clockProblem = new LastProblem();
  #closing: Promise<void> | undefined;
  /** The server whose clock is read next. At random first, so that nodes don't all ask the same one. */
  #turn = randomInt(1000);

  constructor(
    readonly options: ResolvedOptions,
    { writer, onUnproven, onHintLost, callTimeout = CALL_TIMEOUT }: OpenOptions = {},
  ) {
    this.#keys = new Keys(options.prefix);
    this.#feed = new ChangeFeed(this.#watches, { writer, onUnproven, onLost: this.#heartbeat.hurry });
    this.#connection = new Connection({
      place: options.place,
      newClient: options.newClient,
      open: (client, ended) => this.#open(client, ended),
      opened: () => this.#watches.tell({}),
      // Messages, too, come from the next primary then.
      suspected: () => this.#feed.detach(),
    });
    this.#calls = new Calls(this.#connection, callTimeout);
    this.#afterWrites = new HintsAfterWrites((name) => this.queue(name), callTimeout, onHintLost);
    const script = options.durable ? COMPARE_AND_SET_DURABLE : COMPARE_AND_SET;
    this.records = new Records(this.#keys, this.#calls, this.#feed, script);
    this.#origins = options.durable ? undefined : new FailoverMarker(this.#keys, this.#calls.within);
    this.#poller = new Poller(this.#calls, this.#feed, this.#connection);
    this.tasks = new RedisTasks(this.#keys, this.#calls, this.#poller, this.#afterWrites);
    this.groups = new HashTexts(this.#keys.groups, this.#calls);
  }

  queue(name: string): HintQueue {
    return new RedisQueue(name, this.#keys.queue(name), this.#calls, this.#poller);
  }

  journal(name: string): Journal {
    return new StreamJournal(this.#keys.journal(name), this.#calls);
  }

  async watch(prefix: string, onChange: (change: RecordChange) => void): Promise<() => Promise<void>> {
    if (this.#connection.isClosed) throw this.#connection.unavailable();
    return this.#watches.add(prefix, onChange);
  }

  awaitChanges(key?: string): () => void {
    return this.#feed.awaitChanges(key);
  }

  /** Never waits for a connection: the wait would count as the age of the reading. */
  async now(): Promise<ClockReading> {
    const session = this.#connection.connected();
    const { client } = session;
    const primaries = client.primaries();
    const primary = primaries[this.#turn++ % Math.max(primaries.length, 1)];
    if (!primary) throw this.#connection.unavailable();
    try {
      const facts = await this.#calls.within(() => lookAt(primary));
      this.#assertPrimary(session, facts);
      this.#clockProblem.answered(facts);
      this.#note(facts, primaries.length);
      void this.#meet(client, facts);
      return { time: facts.time, member: facts.runId };
    } catch (error) {
      throw this.#clockProblem.failed(readFailure(error));
    }
  }

  health(): StoreHealth {
    const { session, isClosed } = this.#connection;
    const problem = isClosed ? 'the store is closed' : this.#problem(session);
    return {
      connected: session !== undefined,
      members: session ? session.client.primaries().length : 0,
      quorum: 0,
      ...(problem !== undefined && { problem }),
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#watches.clear();
    this.#heartbeat.stop();
    this.#feed.close();
    await this.#afterWrites.close(this.#calls.timeout);
    await this.#connection.close((client) => this.#poller.leave(client));
    this.#calls.close();
  }

  async #open(client: RedisClient, ended: AbortSignal): Promise<Session> {
    ended.addEventListener('abort', this.#poller.lost, { once: true });
    const { options } = this;
    const needs = { options, feed: this.#feed, origins: this.#origins, ended, within: this.#calls.within };
    const { session, facts } = await openSession(client, needs);
    this.#note(facts, 1);
    return session;
  }

  /** Not a part of the reading, whose age is the time that it takes. */
  async #meet(client: RedisClient, { origin }: ServerFacts): Promise<void> {
    try {
      if (await this.#origins?.meet(client, [origin])) this.#watches.tell({});
    } catch {
      // The next reading tries again, and so does the next write.
    }
  }

  async #testMessages(): Promise<void> {
    const { session } = this.#connection;
    if (session) await this.#feed.verify(session.client, this.#calls.within);
  }

  #note({ runId, eviction }: ServerFacts, servers: number): void {
    if (this.#evictions.size > servers) this.#evictions.clear(); // servers that are gone
    if (eviction === undefined) this.#evictions.delete(runId);
    else this.#evictions.set(runId, eviction);
  }

  /** The client of a Cluster learns by its other calls which servers are primaries now. */
  #assertPrimary(session: Session, facts: ServerFacts): void {
    try {
      assertUsable(facts);
    } catch (error) {
      if (!session.client.isCluster) this.#connection.suspect(session, messageOf(error));
      throw error;
    }
  }

  #problem(session: Session | undefined): string | undefined {
    if (!session) return this.#connection.problem;
    const [eviction] = this.#evictions.values();
    return this.#calls.problem.text ?? this.#clockProblem.text ?? eviction;
  }
}
