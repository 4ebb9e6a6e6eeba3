import { DeadlinePassed } from '../../core/async/deadline.js';
import { GatekeeperError } from '../../core/decision/gatekeeper.error.js';
import { StoreUnavailableError, UnknownOutcomeError } from '../../core/store/store.errors.js';

/** An error of pg, of a socket, or of PostgreSQL itself. */
export interface PgError extends Error {
  /** Code of Node, or the five characters of PostgreSQL. */
  readonly code?: string;
  /** "ERROR", "FATAL" or "PANIC", if the server sent the error. */
  readonly severity?: string;
}

/**
 * The database can't keep records with these options: its tables are missing and may not be created, its encoding is not
 * UTF8, or a newer version of this package made its tables. Surely nothing was changed.
 */
export class PostgresUnusableError extends StoreUnavailableError {
  static override readonly className = 'PostgresUnusableError';
}

/** Another transaction held a row for longer than the statement waits for rows. Surely nothing was changed. */
export class RowHeldError extends StoreUnavailableError {
  static override readonly className = 'RowHeldError';
}

/** No connection of a pool was free in time. The statement was not sent, and the server may be well. */
export class NoFreeConnectionError extends Error {}

/** A failed statement. */
export class Failed extends Error {
  /** @param wasSent whether the statement may have reached the server */
  constructor(
    override readonly cause: unknown,
    readonly wasSent: boolean,
  ) {
    super();
  }
}

const READ_ONLY = 'this server is read-only: connect to the primary';

const ADVICE: Readonly<Record<string, string>> = {
  '42P01': 'the tables are missing: they are looked for again now',
  '42501': "grant the user the rights that docs/stores.md lists under 'Tables'",
  '25006': READ_ONLY,
  // A standby does not tell its timeline.
  '55000': READ_ONLY,
  '53300': 'raise max_connections of the server, or use fewer connections per node',
  '55P03': 'another transaction, such as a backup, holds the table or the row: wait for its end',
  '57014': 'the statement took longer than a call may take',
};

/** The statement waited for a lock for as long as its setting allows. */
const LOCK_TIMEOUT = '55P03';

/** Conflicts with other transactions, after which a statement surely did nothing, and may run again. */
const CONFLICTS: ReadonlySet<string> = new Set(['40001', '40P01']);

/** The name of a statement is unknown, or already there. */
const WRONG_NAMES: ReadonlySet<string> = new Set(['26000', '42P05']);

/**
 * Codes that prove nothing about the statement, although the server sent them: connection exceptions (08, also from
 * poolers that lost the server), unknown completion (40003, CockroachDB), operator intervention other than a cancelled
 * statement (57P), system errors (58) and internal errors (XX).
 */
const UNCLEAR = /^(08|57P|58|XX)|^40003$/;

/**
 * Codes of errors that end a statement, and no session that has begun. A server that speaks another language also translates
 * the severity ("FEHLER"), and pg does not pass on the other one.
 */
const OF_A_STATEMENT = /^(22|23|42|44|54|55)|^(25006|26000|40001|40P01|57014)$/;

/** Whether the server surely did nothing, because it refused the statement with an error of its own. */
function isRefusal({ code, severity }: PgError): boolean {
  if (code === undefined || severity === undefined || UNCLEAR.test(code)) return false;
  return severity === 'ERROR' || (OF_A_STATEMENT.test(code) && !ENDS_SESSION.has(severity));
}

const ENDS_SESSION: ReadonlySet<string> = new Set(['FATAL', 'PANIC']);

/** Whether pg says that it did not send the statement, because the connection had failed before. */
function isUnsent({ message }: PgError): boolean {
  return message.endsWith('and is not queryable');
}

export function isConflict({ cause }: Failed): boolean {
  return CONFLICTS.has((cause as PgError).code ?? '');
}

/** Whether a pooler refused to connect because of a setting. */
export function refusesSettings({ code, message }: PgError): boolean {
  return code === '08P01' && message.includes('startup parameter');
}

/** Whether the server refused the name of a statement, before it ran. */
export function isOfName({ cause }: Failed): boolean {
  return WRONG_NAMES.has((cause as PgError).code ?? '');
}

/** Codes of a server that takes no writes, and of a lost name. */
const USELESS: ReadonlySet<string | undefined> = new Set(['25006', '55000', '26000']);

/** Whether the connection can't be used any longer. After most refusals it can. */
export function isBroken(cause: PgError): boolean {
  return !isRefusal(cause) || USELESS.has(cause.code);
}

/** Whether the server may be gone, or another one, so that it must be asked again whether it can serve at all. */
export function isSuspicious({ cause }: Failed): boolean {
  if (cause instanceof NoFreeConnectionError) return false;
  return isBroken(cause as PgError) || (cause as PgError).code === '42P01';
}

/** Codes of connections that a server refused which does not run yet, or not any more. */
const REFUSED: ReadonlySet<string | undefined> = new Set(['57P03', 'ECONNREFUSED']);

/** Whether there was no connection, because the server was just starting or ending. @param error of an examination */
export function wasStarting(error: unknown): boolean {
  const cause = (error as Error).cause as PgError | undefined;
  return REFUSED.has(cause?.code);
}

/** The error of a statement that changes nothing. */
export function readFailure(where: string, { cause }: Failed): GatekeeperError {
  if (cause instanceof GatekeeperError) return cause;
  const Unavailable = (cause as PgError).code === LOCK_TIMEOUT ? RowHeldError : StoreUnavailableError;
  return new Unavailable(`${where} did not answer (${said(cause)}): try again`, { cause });
}

/** The error of a statement that may have written. Only a refusal by the server proves that nothing was written. */
export function writeFailure(where: string, failed: Failed): GatekeeperError {
  const cause = failed.cause as PgError;
  if (!failed.wasSent || isRefusal(cause) || isUnsent(cause)) return readFailure(where, failed);
  return new UnknownOutcomeError(`${where} may or may not have written (${said(cause)}): read before you write again`, {
    cause,
  });
}

export function said(cause: unknown): string {
  return cause instanceof DeadlinePassed ? 'there was no answer in time' : reasonOf(cause as PgError, ADVICE);
}

const LOOK_AT_ADDRESS = 'check host and port in connectionString, and that the server runs';
const LOOK_AT_USER = 'check user and password in connectionString';
const LOOK_AT_CA =
  'give the certificate of the authority that signed it: ?sslmode=verify-full&sslrootcert=/path/to/ca.pem in connectionString';
const TAKE_TLS =
  'the server wants TLS: add ?sslmode=verify-full to connectionString, or check the rules in its pg_hba.conf';

/** Advice by error code, of Node or of PostgreSQL (appendix A of its manual), about the connection. */
const CONNECTION_ADVICE: Readonly<Record<string, string>> = {
  ENOTFOUND: LOOK_AT_ADDRESS,
  EAI_AGAIN: LOOK_AT_ADDRESS,
  ECONNREFUSED: LOOK_AT_ADDRESS,
  EHOSTUNREACH: LOOK_AT_ADDRESS,
  ENETUNREACH: LOOK_AT_ADDRESS,
  ETIMEDOUT: LOOK_AT_ADDRESS,
  ENOENT: LOOK_AT_ADDRESS,
  '28P01': LOOK_AT_USER,
  '28000': `${LOOK_AT_USER}, and the rules in pg_hba.conf of the server`,
  SELF_SIGNED_CERT_IN_CHAIN: LOOK_AT_CA,
  DEPTH_ZERO_SELF_SIGNED_CERT: LOOK_AT_CA,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: LOOK_AT_CA,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: LOOK_AT_CA,
  ERR_TLS_CERT_ALTNAME_INVALID: 'use the host name of the certificate in connectionString',
  '3D000': 'check the database in connectionString, or create it',
};

/**
 * The reason of an error, with advice; it contains no password.
 *
 * @param advice more advice, by error code
 */
export function reasonOf(error: PgError, advice: Readonly<Record<string, string>> = {}): string {
  const code = error.code ?? '';
  const help = isWithoutTls(error) ? TAKE_TLS : (CONNECTION_ADVICE[code] ?? advice[code]);
  return `${sentenceOf(error)}${help ? `; ${help}` : ''}`;
}

/** The server's rules ask for encryption. Their code is that of wrong passwords, too. */
function isWithoutTls({ code, message }: PgError): boolean {
  return code === '28000' && message.endsWith(', no encryption');
}

/** Node's error has no message if a host has several addresses and none answers. */
function sentenceOf({ message, code }: PgError): string {
  // pg's message if the server asks for a password and none is given.
  if (message.startsWith('SASL') && message.includes('must be a string'))
    return 'the server asks for a password, and there is no password in connectionString';
  return message || code || 'it failed without a reason';
}
