import { Deadline } from '../../core/async/deadline.js';
import { systemClock } from '../../core/async/node-clock.js';
import { Timers } from '../../core/async/timers.js';
import { ChangeAnnouncer } from '../../core/store/change-announcer.js';
import { HintPolls } from '../../core/store/hint-polls.js';
import { PrefixWatches } from '../../core/store/prefix-watches.js';
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
  TransactionCollection,
} from '../../core/store/driver.js';
import { StoreUnavailableError } from '../../core/store/store.errors.js';
import { Calls } from './calls.js';
import { Connection } from './connection.js';
import { ChangeFeed } from './hints/change-feed.js';
import { type QueueNeeds, TableQueue, queueStatements } from './hints/hint-queues.js';
import { PostgresJournal } from './postgres-journal.js';
import { placeOf } from './pg.js';
import type { ResolvedOptions } from './postgres.options.js';
import { type Server, givenServer, named, ownServer } from './server.js';
import { type Tables, examine, tableNames } from './tables.js';
import { PostgresRecords, PostgresTasks, TableTexts } from './texts/table-texts.js';
import { type TextStatements, plainRows, statementsInTransaction } from './texts/text-statements.js';
import { PostgresTransaction } from './texts/transaction.js';

const CALL_TIMEOUT = 2000;
/** The longest time in ms for which a start waits for the first attempt to connect. */
const LONGEST_VERIFICATION = 10_000;

/**
 * The server's clock, and a name that tells servers apart: the start of the server process, in µs. After a failover another
 * server answers, whose clock is another one. A restarted server gets a new name, too.
 */
const CLOCK = named(`SELECT (extract(epoch FROM pg_catalog.clock_timestamp())::pg_catalog.numeric
      OPERATOR(pg_catalog.*) 1000::pg_catalog.numeric)::pg_catalog.float8 AS time,
    (extract(epoch FROM pg_catalog.pg_postmaster_start_time())::pg_catalog.numeric
      OPERATOR(pg_catalog.*) 1000000::pg_catalog.numeric)::pg_catalog.int8::pg_catalog.text AS started,
    pg_catalog.pg_is_in_recovery() AS standby`);

/** Records, journals and tasks in the tables of one schema; cluster time is the server's. */
export class PostgresDriver implements Driver {
  readonly records: RecordCollection;
  readonly tasks: OrderedCollection;
  readonly groups: TextCollection;
  readonly #watches = new PrefixWatches();
  readonly #timers = new Timers(systemClock);
  readonly #tables: Tables;
  readonly #connection: Connection;
  readonly #calls: Calls;
  readonly #feed: ChangeFeed;
  readonly #polls = new HintPolls();
  readonly #queues: QueueNeeds;
  readonly #transactionSql: TextStatements;
  /** See {@link PostgresJournal}. */
  readonly #trimming = new Map<string, number>();
  /** The server whose clock was read last. */
  #member: string | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: ResolvedOptions, opening: OpenOptions = {}) {
    const { writer, onUnproven, callTimeout: timeout = CALL_TIMEOUT, hearsChanges = true } = opening;
    const { createTables, notifications, pollInterval } = options;
    const [server, where, timers] = [serverOf(options, timeout), placeIn(options), this.#timers];
    const tables = (this.#tables = tableNames(options.schema));
    this.#connection = new Connection(
      server,
      where,
      async () => {
        const examined = await examine(server, { where, tables, createTables }, new Deadline(timers, timeout));
        records.use(examined);
        await this.#feed.prepare();
      },
      { opened: () => this.#feed.opened(), lost: () => this.#polls.wakeAll() },
    );
    const calls = (this.#calls = new Calls({ server, connection: this.#connection, where, timers, timeout }));
    const records = new PostgresRecords(calls, tables, (...change) => this.#feed.announce(...change));
    const { closing } = this.#connection;
    const announcer = new ChangeAnnouncer(this.#watches, (key) => records.read(key));
    const parts = { server, calls, announcer, polls: this.#polls, closing, tables, records };
    this.#feed = new ChangeFeed(parts, { notifications, pollInterval, writer, onUnproven, hearsChanges });
    this.records = records;
    const offered = (queue: string) => this.#feed.offered(queue);
    this.#queues = { calls, sql: queueStatements(tables.hints), polls: this.#polls, offered };
    this.tasks = new PostgresTasks(calls, tables, offered);
    this.#transactionSql = statementsInTransaction(plainRows(tables.tasks));
    this.groups = new TableTexts(calls, plainRows(tables.groups));
  }

  queue(name: string): HintQueue {
    return new TableQueue(name, this.#queues);
  }

  journal(name: string): Journal {
    return new PostgresJournal(name, this.#calls, this.#trimming, this.#tables);
  }

  async watch(prefix: string, onChange: (change: RecordChange) => void): Promise<() => Promise<void>> {
    this.#connection.closing.throwIfAborted();
    return this.#watches.add(prefix, onChange);
  }

  awaitChanges(key?: string): () => void {
    return this.#feed.awaitChanges(key);
  }

  /** @throws StoreUnavailableError also for a standby, whose records may be old */
  async now(): Promise<ClockReading> {
    // Not after a wait, which would count as the age of the reading.
    this.#calls.assertOpen();
    const [row] = await this.#calls.read(CLOCK, []);
    const { time, started, standby } = row as { time: number; started: string; standby: boolean };
    if (standby) throw new StoreUnavailableError('This PostgreSQL server is a standby: connect to the primary');
    const [before, member] = [this.#member, `postgres-${started}`];
    this.#member = member;
    // Another server may have taken over so fast that no call failed. Then records may be doubted, and messages were missed.
    if (before !== undefined && before !== member) this.#feed.opened();
    return { time, member };
  }

  within(transaction: unknown): TransactionCollection {
    return new PostgresTransaction(transaction, { tables: this.#tables, sql: this.#transactionSql, feed: this.#feed });
  }

  async verify(): Promise<void> {
    await this.#connection.firstAttempt.wait(LONGEST_VERIFICATION);
    if (this.#connection.unusable) throw this.#connection.unusable;
  }

  health(): StoreHealth {
    const { isOpen, problem } = this.#connection;
    const present = this.#closed ? 'the store is closed' : (problem ?? this.#calls.problem.text);
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
    this.#polls.wakeAll();
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
