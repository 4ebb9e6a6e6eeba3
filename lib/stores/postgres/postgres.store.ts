import { setMaxListeners } from 'node:events';
import { Deadline } from '../../core/async/deadline.js';
import { systemClock } from '../../core/async/node-clock.js';
import { Timers } from '../../core/async/timers.js';
import { atMost } from '../../core/store/at-most.js';
import { ChangeAnnouncer } from '../../core/store/change-announcer.js';
import { PrefixWatches } from '../../core/store/prefix-watches.js';
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
import { placeOf } from './address.js';
import { Calls } from './calls.js';
import { Connection } from './connection.js';
import { examine } from './examine.js';
import { ChangeFeed } from './hints/change-feed.js';
import { WaitingPolls } from './hints/waiting-polls.js';
import { PostgresJournal } from './postgres-journal.js';
import type { ResolvedOptions } from './postgres.options.js';
import { PostgresRecords } from './postgres-records.js';
import { type Server, givenServer, ownServer } from './server.js';
import { PostgresTasks } from './tasks/postgres-tasks.js';
import { type Tables, tableNames } from './tables.js';

const CALL_TIMEOUT = 2000;
/** The longest time in ms for which a start waits for the first attempt to connect. */
const LONGEST_VERIFICATION = 10_000;

/** Records, journals and tasks in the tables of one schema; cluster time is the server's. */
export class PostgresStore implements RecordStore {
  readonly tasks: PostgresTasks;
  readonly #watches = new PrefixWatches();
  readonly #timers = new Timers(systemClock);
  readonly #tables: Tables;
  readonly #connection: Connection;
  readonly #calls: Calls;
  readonly #records: PostgresRecords;
  readonly #feed: ChangeFeed;
  readonly #polls: WaitingPolls;
  /** See {@link PostgresJournal}. */
  readonly #trimming = new Map<string, number>();
  /** The server whose clock was read last. */
  #member: string | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: ResolvedOptions, { writer, onUnproven, callTimeout: timeout = CALL_TIMEOUT }: OpenOptions = {}) {
    const { createTables, notifications, pollInterval } = options;
    const [server, where, timers] = [serverOf(options, timeout), placeIn(options), this.#timers];
    const tables = (this.#tables = tableNames(options.schema));
    this.#connection = new Connection(
      server,
      where,
      async () => {
        const examined = await examine(server, { where, tables, createTables }, new Deadline(timers, timeout));
        this.#records.use(examined);
        await this.#feed.prepare();
      },
      { opened: () => this.#feed.opened(), lost: () => this.#polls.wakeAll() },
    );
    const calls = (this.#calls = new Calls({ server, connection: this.#connection, where, timers, timeout }));
    this.#records = new PostgresRecords(calls, tables);
    const polls = (this.#polls = new WaitingPolls(this.#connection.closing));
    const announcer = new ChangeAnnouncer(this.#watches, (key) => this.read(key));
    const readMany = (keys: readonly string[]) => this.readMany(keys);
    const keyPlace = this.#records.keyPlace((...call) => server.run(...call, new Deadline(timers, timeout)));
    const parts = { server, calls, announcer, polls, tables, timers, readMany, keyPlace };
    this.#feed = new ChangeFeed(parts, { notifications, pollInterval, timeout, writer, onUnproven });
    this.tasks = new PostgresTasks({ calls, tables, polls, timers, timeout, feed: this.#feed });
    setMaxListeners(0, this.#connection.closing);
  }

  read(key: string): Promise<string | undefined> {
    return this.#records.read(key);
  }

  async compareAndSet(
    key: string,
    expected: string | undefined,
    next: string,
    { notify = 'all' }: { readonly notify?: Notify } = {},
  ): Promise<boolean> {
    const written = await this.#records.compareAndSet(key, expected, next, notify === 'all');
    if (written) this.#feed.announce(key, next, notify);
    return written;
  }

  list(prefix: string): Promise<Map<string, string>> {
    return this.#records.list(prefix);
  }

  page(prefix: string, after?: string): Promise<RecordPage> {
    return this.#records.page(prefix, after);
  }

  readMany(keys: readonly string[]): Promise<Map<string, string>> {
    return this.#records.readMany(keys);
  }

  async watch(prefix: string, onChange: (change: RecordChange) => void): Promise<() => Promise<void>> {
    this.#connection.closing.throwIfAborted();
    return this.#watches.add(prefix, onChange);
  }

  awaitChanges(key?: string): () => void {
    return this.#feed.awaitChanges(key);
  }

  journal(name: string): Journal {
    return new PostgresJournal(name, this.#calls, this.#trimming, this.#tables);
  }

  async now(): Promise<ClockReading> {
    const reading = await this.#records.now();
    const before = this.#member;
    this.#member = reading.member;
    // Another server may have taken over so fast that no call failed. Then records may be doubted, and messages were missed.
    if (before !== undefined && before !== reading.member) this.#feed.opened();
    return reading;
  }

  async verify(): Promise<void> {
    await atMost(LONGEST_VERIFICATION, this.#connection.attempted);
    if (this.#connection.unusable) throw this.#connection.unusable;
  }

  health(): StoreHealth {
    const { isOpen, problem } = this.#connection;
    const present = this.#closed ? 'the store is closed' : (problem ?? this.#calls.problem);
    return {
      connected: isOpen,
      members: isOpen ? 1 : 0,
      quorum: 1,
      ...(present !== undefined && { problem: present }),
    };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#watches.clear();
    const closing = this.#connection.close();
    // Calls that are under way end with an error, so that nothing waits for a server that hangs.
    this.#timers.close();
    await this.#feed.close();
    await closing;
  }
}

function serverOf({ pool, notifications: isSession, ...options }: ResolvedOptions, callTimeout: number): Server {
  if (pool) return givenServer(pool, isSession);
  const { connectionString, maxConnections } = options;
  return ownServer({ connectionString: connectionString!, maxConnections, isSession, callTimeout });
}

/** The server in words, without a password. */
export function placeIn({ connectionString }: Pick<ResolvedOptions, 'connectionString'>): string {
  return connectionString === undefined ? "PostgreSQL of the application's pool" : placeOf(connectionString);
}
