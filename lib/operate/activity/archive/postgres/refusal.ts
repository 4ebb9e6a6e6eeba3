import { GatekeeperError } from '../../../../core/decision/index.js';
import type { Queries } from '../../../../stores/postgres/pg.js';
import { type PgError, reasonOf } from '../../../../stores/postgres/failures.js';

/**
 * PostgreSQL is unreachable, or refused a statement. The message has the address, the reason and advice; no password.
 */
export class PostgresError extends GatekeeperError {
  static override readonly className = 'PostgresError';
  readonly code = 'postgres-failed';
}

const TABLE_MISSING = '42P01';
/** The page with the CREATE TABLE of the table. */
const PAGE = 'docs/operations.md';

/** Advice by error code of PostgreSQL (appendix A of its manual), about the table. */
const ADVICE: Readonly<Record<string, string>> = {
  '42501': `give the user this right, or create the table with the CREATE TABLE of ${PAGE} and grant SELECT, INSERT, UPDATE, DELETE`,
  '3F000': 'create the schema that the option table names',
  '42703': `the table is not like the CREATE TABLE of ${PAGE}: name another in the option table`,
  [TABLE_MISSING]: 'the table was dropped: it is created again at the next attempt',
};

/** Adds the address and advice to the errors of `queries`, for readers of the log. */
export function explaining(queries: Queries, where: string): Queries {
  return {
    query: (text, values) =>
      queries.query(text, values).catch((error: unknown) => {
        throw new PostgresError(`${where}: ${reasonOf(error as PgError, ADVICE)}`, { cause: error });
      }),
  };
}

export function isTableMissing(error: unknown): boolean {
  return error instanceof PostgresError && (error.cause as PgError).code === TABLE_MISSING;
}
