import loadPg from '../../../load-pg.cjs';
import { quoted } from '../../core/decision/index.js';
import { MissingPackageError } from '../../core/decision/missing-package.error.js';

/** Result of a statement. */
export interface QueryRows {
  /** The rows, each an object with a field per column. */
  readonly rows: unknown[];
}

/** The method of pg's pool that every user of a pool needs. */
export interface Queries {
  /** Runs one statement. @param values of $1, $2, … */
  query(text: string, values?: unknown[]): Promise<QueryRows>;
}

/** A statement that the server parses once per connection, under its name. */
export interface NamedStatement {
  /** Name of the statement on its connection; without, it is parsed each time. */
  readonly name?: string | undefined;
  /** The SQL. */
  readonly text: string;
  /** Values of $1, $2, … */
  readonly values: unknown[];
}

/** The part of a connection of pg's pool that is used. */
export interface PgConnection {
  /** Runs one statement. */
  query(statement: NamedStatement): Promise<QueryRows>;
  /** Adds a listener. */
  on(event: 'notification' | 'error' | 'end', listener: (event: never) => void): unknown;
  /** Removes a listener. */
  off(event: 'notification' | 'error' | 'end', listener: (event: never) => void): unknown;
  /** Gives the connection back. @param isBroken then it is closed instead */
  release(isBroken?: boolean): void;
}

/** The part of pg's pool that is used. */
export interface PgPool extends Queries {
  /** Takes a connection out of the pool. */
  connect(): Promise<PgConnection>;
}

/** A pool that this package made, and closes. */
export interface OwnPool extends PgPool {
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'connect', listener: (connection: PgConnection) => void): unknown;
  end(): Promise<void>;
}

/**
 * Checks at the start that pg is installed: later, nothing could run without it.
 *
 * @param what the function and option that need it
 * @throws MissingPackageError
 */
export function requirePg(what: string, load: typeof loadPg = loadPg): void {
  if (!load()) throw new MissingPackageError(`${what} needs the package pg: npm install pg`);
}

/** Whether pg is installed where this package finds it. */
export function hasPg(): boolean {
  return loadPg() !== undefined;
}

/** Needs {@link requirePg}, or {@link hasPg}, before. @param config of pg's Pool */
export function openPool(config: object): OwnPool {
  const { Pool } = loadPg() as { readonly Pool: new (config: object) => OwnPool };
  const pool = new Pool({ ...config, allowExitOnIdle: true });
  // An idle connection may break. Without a listener that would end the process. The next call reports it.
  pool.on('error', () => undefined);
  // A server that ends a connection right after it accepted it may send both in one packet. The error then comes before
  // the promise of the connection has resolved, when nothing else listens yet.
  pool.on('connect', (connection) => connection.on('error', () => undefined));
  return pool;
}

/** Does not contain the value, unlike the texts of other faults, because the value may contain a password. */
export const NO_ADDRESS =
  'is no address like "postgres://user:password@host:5432/database" (write special characters of a password as codes: "%23" for "#")';

/** Whether pg accepts a text as an address: a URL, or the path of a socket's folder, then a space and a database. */
export function isAddress(text: string): boolean {
  return text.startsWith('/') || urlOf(text) !== undefined;
}

/** An address for messages, without password and settings. */
export function placeOf(address: string): string {
  const url = urlOf(address);
  if (!url) return `PostgreSQL at ${address}`;
  const { host, pathname, username, searchParams } = url;
  const server = searchParams.get('host') ?? (host === NO_HOST ? '' : host);
  return `PostgreSQL at ${server}${pathname}${username ? `, user ${quoted(username)}` : ''}`;
}

const NO_HOST = 'no-host';

function urlOf(text: string): URL | undefined {
  if (!/^(postgres|postgresql|socket):/.test(text)) return undefined;
  // pg accepts "postgres://user:password@/database?host=/run/postgresql", although that is not a URL.
  const readable = [text, text.replace('@/', `@${NO_HOST}/`)].find((each) => URL.canParse(each));
  return readable === undefined ? undefined : decodable(new URL(readable));
}

function decodable(url: URL): URL | undefined {
  try {
    decodeURIComponent(`${url.username} ${url.password} ${url.pathname}`);
    return url;
  } catch {
    // The text has a "%" without a code. pg can't read that either.
    return undefined;
  }
}
