import { GatekeeperError } from '../../../decision/index.js';

/** The part of a pool that is used: pg's has it. */
export interface Queries {
  /** Runs one statement. @param values of $1, $2, … */
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>;
}

/** PostgreSQL could not be asked, or refused. Says which, why, and what to look at; never a password. */
export class PostgresError extends GatekeeperError {
  readonly code = 'postgres-failed';
}

const LOOK_AT_ADDRESS = 'check host and port in connectionString, and that the server runs';
const LOOK_AT_USER = 'check user and password in connectionString';

const TABLE_MISSING = '42P01';

/** By the codes of Node and of PostgreSQL (its manual's appendix A). */
const ADVICE: Readonly<Record<string, string>> = {
  ENOTFOUND: LOOK_AT_ADDRESS,
  EAI_AGAIN: LOOK_AT_ADDRESS,
  ECONNREFUSED: LOOK_AT_ADDRESS,
  EHOSTUNREACH: LOOK_AT_ADDRESS,
  ENETUNREACH: LOOK_AT_ADDRESS,
  ETIMEDOUT: LOOK_AT_ADDRESS,
  ENOENT: LOOK_AT_ADDRESS,
  '28P01': LOOK_AT_USER,
  '28000': `${LOOK_AT_USER}, and what pg_hba.conf of the server lets in`,
  '3D000': 'check the database in connectionString, or create it',
  '42501':
    'let the user do it, or make the table with the CREATE TABLE of docs/persistence.md and grant SELECT, INSERT, UPDATE',
  '3F000': 'create the schema that the option table names',
  '42703': 'the table is not like the CREATE TABLE of docs/persistence.md: name another in the option table',
  [TABLE_MISSING]: 'the table was dropped: it is made again at the next change or sweep',
};

/** Makes the errors of `queries` name the place and the advice that a reader of the log needs. */
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

/** Classes of PostgreSQL's codes that blame the value of a row: data exception, integrity, program limit. */
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

/** Of a host with several addresses, none of which answers, Node's error has no message. */
function reasonOf({ message, code }: Refused): string {
  // The message of pg where the server asks for a password and there is none.
  if (message.startsWith('SASL') && message.includes('must be a string'))
    return 'the server asks for a password, and there is no password in connectionString';
  return message || code || 'it failed without a reason';
}
