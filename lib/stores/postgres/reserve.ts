import type { Deadline } from '../../core/async/deadline.js';
import { NoFreeConnectionError } from './failures.js';
import { type OwnPool, type PgConnection, type PgPool, type Queries, hasPg, openPool } from './pg.js';

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

/**
 * ms for which a statement waits for a connection of the application's pool before it wants the one in reserve. Statements of this
 * package that use the pool up for a moment do not need it.
 */
const PATIENCE = 250;

/**
 * One connection beside the pool of the application, made from the pool's options. It is opened when the pool has none to lend, and
 * closed when it was idle for a while. Without it, a job that uses all connections would keep its own permit from being
 * refreshed.
 */
export class Reserve {
  #opened: OwnPool | undefined;
  #isClosed = false;

  constructor(private readonly pool: PgPool) {}

  /**
   * Takes the connection that is free first.
   *
   * @throws NoFreeConnectionError if none was free in time, DeadlinePassed, or the error of the pool
   */
  async borrow(deadline: Deadline): Promise<PgConnection> {
    const { pool } = this;
    if (!isCounted(pool) || !isExhausted(pool)) return firstOf([pool.connect()], deadline);
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

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#opened?.end();
  }
}

/** The connection that is lent first. Those that come later go back. @throws the error of the first one if all fail */
export async function firstOf(lent: readonly Promise<PgConnection>[], deadline: Deadline): Promise<PgConnection> {
  let first: PgConnection | undefined;
  try {
    return (first = await deadline.race(lent.length === 1 ? lent[0]! : Promise.any(lent)));
  } catch (error) {
    throw error instanceof AggregateError ? (error.errors[0] as Error) : error;
  } finally {
    for (const each of lent) {
      each.then(
        (connection) => void (connection !== first && connection.release()),
        () => undefined, // it is the error that is thrown, or came after another connection, or after the deadline
      );
    }
  }
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
