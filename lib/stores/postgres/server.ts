import type { Deadline } from '../../core/async/deadline.js';
import { type PgConnection, type PgPool, type Queries, type OwnPool, openPool } from './pg.js';
import { Failed, type PgError, isBroken, isOfName, refusesSettings } from './failures.js';
import { Reserve, firstOf } from './reserve.js';

/** A statement. With a name, the server parses it once per connection. */
export interface Statement {
  readonly text: string;
  readonly name?: string;
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
  const names: Names = { areUsed: isSession };
  // With the setting, the server does not work on after the call has ended.
  const pools = new OwnPools(config, isSession ? { statement_timeout: callTimeout } : {});
  return {
    run: (...call) => pools.use((pool) => runNamed((deadline) => firstOf([pool.connect()], deadline), names, ...call)),
    dedicated: (deadline) => pools.use((pool) => firstOf([pool.connect()], deadline)),
    close: () => pools.close(),
  };
}

/** Uses a pool of the application, which the application closes, and one connection more while the pool has none to lend. */
export function givenServer(pool: PgPool | Queries, isSession: boolean): Server {
  if (!('connect' in pool))
    return { run: (...call) => runPlainly(pool, ...call), dedicated, close: async () => undefined };
  const names: Names = { areUsed: isSession };
  const reserve = new Reserve(pool);
  return {
    run: (...call) => runNamed((deadline) => reserve.borrow(deadline), names, ...call),
    dedicated: (deadline) => firstOf([pool.connect()], deadline),
    close: () => reserve.close(),
  };
}

/** The options refuse notifications with such a pool. */
const dedicated = () => Promise.reject<PgConnection>(new Error('the pool has no method connect'));

/** Takes a connection out of a pool. */
type Borrow = (deadline: Deadline) => Promise<PgConnection>;

/** Whether statements are sent with names. */
interface Names {
  areUsed: boolean;
}

/**
 * A pooler that gives each transaction another connection breaks named statements: the server does not know a name, or
 * knows it already. It did nothing then, so the statement runs again without a name, as all later ones do.
 */
async function runNamed(
  borrow: Borrow,
  names: Names,
  ...[statement, values, deadline]: Parameters<Server['run']>
): Promise<Row[]> {
  const { areUsed } = names;
  try {
    return await runOn(borrow, areUsed, statement, values, deadline);
  } catch (error) {
    if (!areUsed || !isOfName(error as Failed)) throw error;
    names.areUsed = false;
    return runOn(borrow, false, statement, values, deadline);
  }
}

async function runOn(
  borrow: Borrow,
  isNamed: boolean,
  { name, text }: Statement,
  values: unknown[],
  deadline: Deadline,
): Promise<Row[]> {
  const connection = await borrow(deadline).catch((cause: unknown) => {
    throw new Failed(cause, false);
  });
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

/** A pool that does not lend connections does not tell whether it sent a statement that failed. */
async function runPlainly(pool: Queries, { text }: Statement, values: unknown[], deadline: Deadline): Promise<Row[]> {
  try {
    return (await deadline.race(pool.query(text, values))).rows as Row[];
  } catch (cause) {
    throw new Failed(cause, true);
  }
}

function giveBack(connection: PgConnection, broken: boolean): void {
  connection.off('error', ignore);
  connection.release(broken);
}

/** The call that uses the connection gets the same error. */
const ignore = (): void => undefined;

/**
 * The pool that this package opens, with the first call. Poolers refuse connections with settings that they do not know.
 * Then another pool without settings takes its place.
 */
class OwnPools {
  #opened: OwnPool | undefined;

  /**
   * @param config of pg's Pool
   * @param settings settings of the server, for each connection
   */
  constructor(
    private readonly config: object,
    private settings: object,
  ) {}

  /** Runs a call. Repeats it if its connection was refused because of the settings: it sent nothing then. */
  async use<T>(call: (pool: OwnPool) => Promise<T>): Promise<T> {
    const used = this.#pool();
    try {
      return await call(used);
    } catch (error) {
      if (!refusesSettings(error)) throw error;
      if (this.#opened === used) this.#withoutSettings(used);
      return call(this.#pool());
    }
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
