import { createHash } from 'node:crypto';
import type { Deadline } from '../../core/async/deadline.js';
import { Failed, NoFreeConnectionError, type PgError, isBroken, isOfName, refusesSettings } from './failures.js';
import { type OwnPool, type PgConnection, type PgPool, type Queries, hasPg, openPool } from './pg.js';

/** A statement. With a name, the server parses it once per connection. */
export interface Statement {
  readonly text: string;
  readonly name?: string;
}

/**
 * A statement with a name, so that the server parses it once per connection. The name is a digest of the text: PostgreSQL
 * cuts names after 63 bytes, and two statements of one name must have the same text, also those of two versions.
 */
export function named(text: string): Statement {
  const digest = createHash('sha256').update(text).digest('base64url').slice(0, 22);
  return { name: `gatekeeper.${digest}`, text };
}

export type Row = Readonly<Record<string, unknown>>;

/** Runs statements on the server, each on any of its connections. */
export interface Server {
  /** @throws Failed */
  run(statement: Statement, values: unknown[], deadline: Deadline): Promise<Row[]>;
  /** Takes a connection for a long time. The caller ends it with `release(true)`. */
  dedicated(deadline: Deadline): Promise<PgConnection>;
  /** Closes connections that this package opened. */
  close(): Promise<void>;
}

/** Settings of connections that this package opens. */
export interface OwnSettings {
  readonly connectionString: string;
  readonly maxConnections: number;
  /** Whether each connection stays with one connection of the server, so that it can have settings and named statements. */
  readonly isSession: boolean;
  /** ms */
  readonly callTimeout: number;
}

/** Opens connections of its own, the first one with the first statement. */
export function ownServer({ connectionString, maxConnections, isSession, callTimeout }: OwnSettings): Server {
  const config = {
    connectionString,
    // One more, which listens.
    max: isSession ? maxConnections + 1 : maxConnections,
    connectionTimeoutMillis: callTimeout,
    keepAlive: true,
    fallback_application_name: 'nestjs-gatekeeper',
  };
  // With the setting, the server does not work on after the call has ended.
  return new OwnServer(config, isSession ? { statement_timeout: callTimeout } : {}, isSession);
}

/** Uses a pool of the application, which the application closes, and one connection more while the pool has none to lend. */
export function givenServer(pool: PgPool | Queries, isSession: boolean): Server {
  return 'connect' in pool ? new GivenServer(pool, isSession) : new PlainServer(pool);
}

/** Runs each statement on a connection of a pool. */
abstract class PooledServer implements Server {
  constructor(private areNamesUsed: boolean) {}

  /** Lends a connection for one statement. The caller gives it back. */
  protected abstract lend(deadline: Deadline): Promise<PgConnection>;
  abstract dedicated(deadline: Deadline): Promise<PgConnection>;
  abstract close(): Promise<void>;

  /**
   * A pooler that gives each transaction another connection breaks named statements: the server does not know a name, or
   * knows it already. It did nothing then, so the statement runs again without a name, as all later ones do.
   */
  async run(statement: Statement, values: unknown[], deadline: Deadline): Promise<Row[]> {
    const isNamed = this.areNamesUsed;
    try {
      return await this.#run(isNamed, statement, values, deadline);
    } catch (error) {
      if (!isNamed || !isOfName(error as Failed)) throw error;
      this.areNamesUsed = false;
      return this.#run(false, statement, values, deadline);
    }
  }

  async #run(isNamed: boolean, { name, text }: Statement, values: unknown[], deadline: Deadline): Promise<Row[]> {
    let connection: PgConnection;
    try {
      connection = await this.lend(deadline);
    } catch (cause) {
      throw new Failed(cause, false);
    }
    // The pool does not listen while a connection is lent. Without a listener, a broken connection would end the process.
    connection.on('error', ignore);
    try {
      const { rows } = await deadline.race(connection.query({ text, values, name: isNamed ? name : undefined }));
      giveBack(connection, false);
      return rows as Row[];
    } catch (cause) {
      giveBack(connection, isBroken(cause as PgError));
      throw new Failed(cause, true);
    }
  }
}

function giveBack(connection: PgConnection, broken: boolean): void {
  connection.off('error', ignore);
  connection.release(broken);
}

/** The call gets the error from another promise, or has ended already. */
const ignore = (): void => undefined;

/** A pool that does not lend connections. */
class PlainServer implements Server {
  constructor(private readonly pool: Queries) {}

  /** The pool does not tell whether it sent a statement that failed. */
  async run({ text }: Statement, values: unknown[], deadline: Deadline): Promise<Row[]> {
    try {
      return (await deadline.race(this.pool.query(text, values))).rows as Row[];
    } catch (cause) {
      throw new Failed(cause, true);
    }
  }

  /** The options refuse notifications with such a pool. */
  async dedicated(): Promise<PgConnection> {
    throw new Error('the pool has no method connect');
  }

  async close(): Promise<void> {}
}

/**
 * The pool that this package opens, with the first call. Poolers refuse connections with settings that they do not know.
 * Then another pool without settings takes its place.
 */
class OwnServer extends PooledServer {
  #opened: OwnPool | undefined;

  /**
   * @param config of pg's Pool
   * @param settings settings of the server, for each connection
   */
  constructor(
    private readonly config: object,
    private settings: object,
    areNamesUsed: boolean,
  ) {
    super(areNamesUsed);
  }

  /** Connects again if the connection was refused because of the settings. */
  protected async lend(deadline: Deadline): Promise<PgConnection> {
    const used = this.#pool();
    try {
      return await inTime(used.connect(), deadline);
    } catch (error) {
      if (!refusesSettings(error as PgError)) throw error;
      if (this.#opened === used) this.#withoutSettings(used);
      return inTime(this.#pool().connect(), deadline);
    }
  }

  dedicated(deadline: Deadline): Promise<PgConnection> {
    return this.lend(deadline);
  }

  async close(): Promise<void> {
    await this.#opened?.end();
  }

  #pool(): OwnPool {
    return (this.#opened ??= openPool({ ...this.config, ...this.settings }));
  }

  #withoutSettings(refused: OwnPool): void {
    this.settings = {};
    this.#opened = undefined;
    void refused.end(); // it has no connection
  }
}

/**
 * ms for which a statement waits for a connection of the application's pool before it wants the one in reserve. Statements of this
 * package that use the pool up for a moment do not need it.
 */
const PATIENCE = 250;

/**
 * The pool of the application, and one connection beside it, in reserve, made from the pool's options. It is opened when the pool has
 * none to lend, and closed when it was idle for a while. Without it, a job that uses all connections would keep its own permit from
 * being refreshed.
 */
class GivenServer extends PooledServer {
  #opened: OwnPool | undefined;
  #isClosed = false;

  constructor(
    private readonly pool: PgPool,
    areNamesUsed: boolean,
  ) {
    super(areNamesUsed);
  }

  /**
   * Takes the connection that is free first.
   *
   * @throws NoFreeConnectionError if none was free in time, DeadlinePassed, or the error of the pool
   */
  protected lend(deadline: Deadline): Promise<PgConnection> {
    const { pool } = this;
    return isCounted(pool) && isExhausted(pool) ? this.#lendAny(pool, deadline) : inTime(pool.connect(), deadline);
  }

  async #lendAny(pool: CountedPool, deadline: Deadline): Promise<PgConnection> {
    let isLent = false;
    const late = deadline.pause(PATIENCE).then(() => {
      if (isLent || this.#isClosed || !isExhausted(pool) || !hasPg()) throw new Error('it is not needed');
      return (this.#opened ??= reserveOf(pool)).connect();
    });
    try {
      return await firstOf([pool.connect(), late], deadline);
    } catch (cause) {
      throw isExhausted(pool) ? new NoFreeConnectionError(sentenceOf(pool), { cause }) : cause;
    } finally {
      isLent = true;
    }
  }

  /** Never the connection in reserve. */
  dedicated(deadline: Deadline): Promise<PgConnection> {
    return inTime(this.pool.connect(), deadline);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#opened?.end();
  }
}

/** The part of pg's pool that tells whether a connection is free. Other objects with its methods may lack it. */
interface CountedPool extends PgPool {
  /** The options with which it was made. Some, such as the password, are not enumerable. */
  readonly options: { readonly max: number; readonly password?: unknown };
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  /** The class of its connections. */
  readonly Client?: unknown;
}

function isCounted(pool: Queries | CountedPool): pool is CountedPool {
  const { options, totalCount, idleCount } = pool as Partial<CountedPool>;
  return typeof options?.max === 'number' && typeof totalCount === 'number' && typeof idleCount === 'number';
}

function isExhausted({ options, totalCount, idleCount }: CountedPool): boolean {
  return totalCount >= options.max && idleCount === 0;
}

function sentenceOf({ totalCount, options, waitingCount }: CountedPool): string {
  const counts = `${totalCount} of ${options.max} in use, ${waitingCount} ${waitingCount === 1 ? 'call waits' : 'calls wait'}`;
  return `no connection of the application's pool was free (${counts}): raise its max, or give the store a connectionString`;
}

function reserveOf({ options, Client }: CountedPool): OwnPool {
  const { password } = options;
  const hidden = { ...(password !== undefined && { password }), ...(Client !== undefined && { Client }) };
  return openPool({ ...options, ...hidden, max: 1, min: 0 });
}

/** Waits for a connection until the deadline. One that comes later goes back. */
function inTime(lent: Promise<PgConnection>, deadline: Deadline): Promise<PgConnection> {
  return deadline.race(lent, (passed) => {
    lent.then((connection) => connection.release(), ignore);
    return passed;
  });
}

/** The connection that is lent first. Those that come later go back. @throws the error of the first one if all fail */
async function firstOf(lent: readonly Promise<PgConnection>[], deadline: Deadline): Promise<PgConnection> {
  let first: PgConnection | undefined;
  try {
    return (first = await deadline.race(Promise.any(lent)));
  } catch (error) {
    throw error instanceof AggregateError ? (error.errors[0] as Error) : error;
  } finally {
    for (const each of lent) each.then((connection) => void (connection !== first && connection.release()), ignore);
  }
}
