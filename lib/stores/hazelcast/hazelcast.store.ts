import type { TaskStorage } from '../../core/store/task-storage.js';
import type {
  ClockReading,
  Journal,
  Notify,
  OpenOptions,
  RecordPage,
  RecordChange,
  RecordStore,
  StoreHealth,
} from '../../core/store/store.js';
import { NoQuorumError, StoreUnavailableError } from '../../core/store/store.errors.js';
import { atMost } from '../../core/store/at-most.js';
import { allPages } from '../../core/store/paging.js';
import { PrefixWatches } from '../../core/store/prefix-watches.js';
import { ChangeAnnouncer } from '../../core/store/change-announcer.js';
import { ChangeFeed } from './change-feed.js';
import { Connection, LONGEST_CLOSE } from './connection.js';
import { readFailure, writeFailure } from './failures.js';
import { GivenClient } from './client-source.js';
import type { ResolvedOptions } from './hazelcast.options.js';
import { CpMissingError } from './records/cp-proof.js';
import { isUnreadable, textOf, unreadableText } from './records/foreign-value.js';
import { OwnClient } from './own-client.js';
import { RingJournal } from './ring-journal.js';
import { HazelcastTasks } from './tasks/hazelcast-tasks.js';
import { TaskCalls } from './tasks/task-calls.js';
import { dataMembers, openSession, type Session } from './session.js';
import { UsualMembers } from './usual-members.js';

const CALL_TIMEOUT = 2000;
/** The longest time in ms for which a start waits for the first attempt to connect. */
const LONGEST_VERIFICATION = 10_000;

/** Records as strings, in an IMap or in the CP subsystem; cluster time from a FlakeIdGenerator. */
export class HazelcastStore implements RecordStore {
  readonly tasks: TaskStorage;
  readonly #watches = new PrefixWatches();
  readonly #announcer = new ChangeAnnouncer(this.#watches, (key) => this.read(key));
  readonly #feed: ChangeFeed;
  readonly #connection: Connection<Session>;
  readonly #callTimeout: number;
  readonly #taskCalls = new TaskCalls({
    forReading: () => this.#connecting(),
    forWriting: () => this.#afterFirstAttempt(() => this.#quorate()),
  });
  #closing: Promise<void> | undefined;
  /** Problem of the last call for records, if it failed. */
  #problem: string | undefined;
  /**
   * Problem of the last clock reading, if it failed. Separate, because members may give their time but refuse records.
   */
  #clockProblem: string | undefined;
  /** The node's clock asks for the health all the time. */
  readonly #usualMembers = new UsualMembers();

  constructor(
    readonly options: ResolvedOptions,
    { writer, onUnproven, callTimeout = CALL_TIMEOUT }: OpenOptions = {},
  ) {
    this.#callTimeout = callTimeout;
    this.tasks = new HazelcastTasks(options.mapName, this.#taskCalls);
    this.#feed = new ChangeFeed(this.#announcer, { writer, onUnproven });
    this.#connection = new Connection(
      options.client ? new GivenClient(options.client) : new OwnClient(options),
      ({ client }, ended) => openSession(client, options, { feed: this.#feed, callTimeout, ended }),
      () => this.#announcer.anything(),
    );
  }

  async read(key: string): Promise<string | undefined> {
    const { records } = await this.#connecting();
    try {
      const value = await records.get(key);
      this.#problem = undefined;
      return value === null ? undefined : textOf(value);
    } catch (error) {
      if (isUnreadable(error)) return unreadableText(error);
      throw this.#failed(readFailure(error));
    }
  }

  async compareAndSet(
    key: string,
    expected: string | undefined,
    next: string,
    options?: { readonly notify?: Notify },
  ): Promise<boolean> {
    const { records } = this.#quorate();
    try {
      const written = await records.compareAndSet(key, expected, next);
      this.#problem = undefined;
      if (written) this.#feed.announce(key, next, options?.notify ?? 'all');
      return written;
    } catch (error) {
      throw this.#failed(writeFailure(error));
    }
  }

  list(prefix: string): Promise<Map<string, string>> {
    return allPages((after) => this.page(prefix, after));
  }

  page(prefix: string, after?: string): Promise<RecordPage> {
    return this.#reading((records) => records.page(prefix, after));
  }

  readMany(keys: readonly string[]): Promise<Map<string, string>> {
    return this.#reading((records) => records.readMany(keys));
  }

  async watch(prefix: string, onChange: (change: RecordChange) => void): Promise<() => Promise<void>> {
    if (this.#closing) throw this.#unavailable();
    return this.#watches.add(prefix, onChange);
  }

  awaitChanges(key?: string): () => void {
    return this.#feed.awaitChanges(key);
  }

  journal(name: string): Journal {
    return new RingJournal(`${this.options.mapName}.${name}`, () => this.#connecting());
  }

  /** Never waits for a connection: the wait would count as the age of the reading. */
  async now(): Promise<ClockReading> {
    const { clock } = this.#connected();
    try {
      const reading = await clock.read();
      this.#clockProblem = undefined;
      return reading;
    } catch (error) {
      const failure = readFailure(error);
      this.#clockProblem = failure.message;
      throw failure;
    }
  }

  async verify(): Promise<void> {
    if (!this.options.cp) return; // every cluster can serve records in a map
    await atMost(LONGEST_VERIFICATION, this.#connection.attempted);
    if (this.#connection.failure instanceof CpMissingError) throw this.#connection.failure;
  }

  health(): StoreHealth {
    const session = this.#connection.session;
    const problem = this.#closing
      ? 'the store is closed'
      : (this.#connection.problem ?? this.#problem ?? this.#clockProblem ?? this.#taskCalls.problem);
    const members = session ? dataMembers(session) : 0;
    const usual = this.#usualMembers.see(members);
    const expected = this.options.expectedMembers ?? usual;
    return {
      connected: session !== undefined,
      members,
      ...(expected > 0 && { expected }),
      quorum: this.options.quorum,
      ...(problem !== undefined && { problem }),
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #reading<T>(call: (records: Session['records']) => Promise<T>): Promise<T> {
    const { records } = await this.#connecting();
    try {
      const answer = await call(records);
      this.#problem = undefined;
      return answer;
    } catch (error) {
      throw this.#failed(readFailure(error));
    }
  }

  async #close(): Promise<void> {
    this.#watches.clear();
    await this.#connection.close();
    // A hanging member does not answer the removal of listeners, so this has a time limit too.
    await atMost(LONGEST_CLOSE, this.#feed.detach());
  }

  /** For a read. A write of a record needs no wait: it follows a read. */
  #connecting(): Session | Promise<Session> {
    return this.#afterFirstAttempt(() => this.#connected());
  }

  /** Right after the start, a call waits for the first attempt to connect. */
  #afterFirstAttempt(session: () => Session): Session | Promise<Session> {
    if (!this.#connection.isFirstAttempt) return session();
    return atMost(this.#callTimeout, this.#connection.attempted).then(session);
  }

  #connected(): Session {
    const { session } = this.#connection;
    if (!session) throw this.#unavailable();
    return session;
  }

  #quorate(): Session {
    const { quorum } = this.options;
    const { session } = this.#connection;
    const members = quorum > 0 && session ? dataMembers(session) : 0;
    if (members < quorum && !this.#closing) throw this.#withoutQuorum(members);
    return this.#connected();
  }

  #unavailable(): StoreUnavailableError {
    if (this.#closing) return new StoreUnavailableError('The Hazelcast store is closed: open another one');
    const { failure } = this.#connection;
    if (failure instanceof CpMissingError) return failure;
    return new StoreUnavailableError(`Not connected to ${placeOf(this.options)}: ${this.#connection.problem}`);
  }

  #withoutQuorum(members: number): NoQuorumError {
    const { quorum } = this.options;
    return new NoQuorumError(
      `${members} of at least ${quorum} members of ${placeOf(this.options)} are there: start more members, or lower quorum`,
    );
  }

  #failed<E extends Error>(error: E): E {
    this.#problem = error.message;
    return error;
  }
}

/** The cluster in words. */
export function placeOf(options: ResolvedOptions): string {
  return options.client
    ? "the given client's cluster"
    : `cluster "${options.clusterName}" at ${options.members.join(', ')}`;
}
