import { GatekeeperError } from '../../../core/decision/index.js';
import type { Queries } from '../../../stores/postgres/pg.js';
import { type PgError, reasonOf } from '../../../stores/postgres/failures.js';

/**
 * PostgreSQL is unreachable, or refused a statement. The message has the address, the reason and advice; no password.
 */
export class PostgresError extends GatekeeperError {
  static override readonly className = 'PostgresError';
  readonly code = 'postgres-failed';
}

const TABLE_MISSING = '42P01';

/** The documentation of an archive's table. */
export interface TableManual {
  /** Name of the archive's function, for messages: "postgresArchive()". */
  readonly archive: string;
  /** The page with its CREATE TABLE. */
  readonly page: string;
  /** The rights that the archive needs: "SELECT, INSERT, UPDATE". */
  readonly rights: string;
}

/** Advice by error code of PostgreSQL (appendix A of its manual), about the table. */
function adviceOf({ page, rights }: TableManual): Readonly<Record<string, string>> {
  return {
    '42501': `give the user this right, or create the table with the CREATE TABLE of ${page} and grant ${rights}`,
    '3F000': 'create the schema that the option table names',
    '42703': `the table is not like the CREATE TABLE of ${page}: name another in the option table`,
    [TABLE_MISSING]: 'the table was dropped: it is created again at the next attempt',
  };
}

/** Adds the address and advice to the errors of `queries`, for readers of the log. */
export function explaining(queries: Queries, where: string, manual: TableManual): Queries {
  const advice = adviceOf(manual);
  return {
    query: (text, values) =>
      queries.query(text, values).catch((error: unknown) => {
        throw new PostgresError(`${where}: ${reasonOf(error as PgError, advice)}`, { cause: error });
      }),
  };
}

export function isTableMissing(error: unknown): boolean {
  return error instanceof PostgresError && (error.cause as PgError).code === TABLE_MISSING;
}

/** Classes of PostgreSQL's codes for a bad value in a row: data exception, integrity violation, program limit. */
const OF_A_VALUE = /^(22|23|54)...$/;

/** Whether the database refuses a row because of its values. */
export function isRefusedValue(error: unknown): error is PostgresError {
  return error instanceof PostgresError && OF_A_VALUE.test((error.cause as PgError).code ?? '');
}
