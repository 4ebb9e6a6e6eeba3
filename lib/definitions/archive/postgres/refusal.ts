import { GatekeeperError } from '../../../decision/index.js';

/** The method of pg's pool that is used. */
export interface Queries {
  /** Runs one statement. @param values of $1, $2, … */
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>;
}

/**
 * PostgreSQL is unreachable, or refused a statement. The message has the address, the reason and advice; no password.
 */
export class PostgresError extends GatekeeperError {
  readonly code = 'postgres-failed';
}

const LOOK_AT_ADDRESS = 'check host and port in connectionString, and that the server runs';
const LOOK_AT_USER = 'check user and password in connectionString';

const TABLE_MISSING = '42P01';

/** Advice by error code, of Node or of PostgreSQL (appendix A of its manual). */
const ADVICE: Readonly<Record<string, string>> = {
  ENOTFOUND: LOOK_AT_ADDRESS,
  EAI_AGAIN: LOOK_AT_ADDRESS,
  ECONNREFUSED: LOOK_AT_ADDRESS,
  EHOSTUNREACH: LOOK_AT_ADDRESS,
  ENETUNREACH: LOOK_AT_ADDRESS,
  ETIMEDOUT: LOOK_AT_ADDRESS,
  ENOENT: LOOK_AT_ADDRESS,
  '28P01': LOOK_AT_USER,
  '28000': `${LOOK_AT_USER}, and the rules in pg_hba.conf of the server`,
  '3D000': 'check the database in connectionString, or create it',
  '42501':
    'give the user this right, or create the table with the CREATE TABLE of docs/persistence.md and grant SELECT, INSERT, UPDATE',
  '3F000': 'create the schema that the option table names',
  '42703': 'the table is not like the CREATE TABLE of docs/persistence.md: name another in the option table',
  [TABLE_MISSING]: 'the table was dropped: it is created again at the next change or sweep',
};

/** Adds the address and advice to the errors of `queries`, for readers of the log. */
export function explaining(queries: Queries, where: string): Queries {
  return {
    query: (text, values) =>
      queries.query(text, values).catch((error: unknown) => {
        throw refusal(where, error as Refused);
      }),
  };
}

export function isTableMissing(error: unknown): boolean {
  return error instanceof PostgresError && (error.cause as Refused).code === TABLE_MISSING;
}

/** Classes of PostgreSQL's codes for a bad value in a row: data exception, integrity violation, program limit. */
const OF_A_VALUE = /^(22|23|54)...$/;

/** Whether the database refuses a row because of its values. */
export function isRefusedValue(error: unknown): error is PostgresError {
  return error instanceof PostgresError && OF_A_VALUE.test((error.cause as Refused).code ?? '');
}

interface Refused extends Error {
  readonly code?: string;
}

function refusal(where: string, error: Refused): PostgresError {
  const advice = ADVICE[error.code ?? ''];
  return new PostgresError(`${where}: ${reasonOf(error)}${advice ? `; ${advice}` : ''}`, { cause: error });
}

/** The reason of an error. Node's error has no message if a host has several addresses and none answers. */
function reasonOf({ message, code }: Refused): string {
  // pg's message if the server asks for a password and none is given.
  if (message.startsWith('SASL') && message.includes('must be a string'))
    return 'the server asks for a password, and there is no password in connectionString';
  return message || code || 'it failed without a reason';
}
