import type { Deadline } from '../../core/async/deadline.js';
import { show } from '../../core/decision/texts/show.js';
import { StoreUnavailableError } from '../../core/store/store.errors.js';
import { Failed, PostgresUnusableError, said } from './failures.js';
import type { Server } from './server.js';
import { LAYOUT, type Tables, allOf, creation, layoutIn } from './tables.js';
import { tellsTimeline } from './timeline.js';

interface Look {
  readonly encoding: string;
  readonly standby: boolean;
  readonly comment: string | null;
  /** Tables, sequences and columns that are missing. */
  readonly missing: string[];
}

const LOOK = `SELECT pg_catalog.current_setting('server_encoding') AS encoding, pg_catalog.pg_is_in_recovery() AS standby,
  (SELECT description FROM pg_catalog.pg_description
    WHERE objoid OPERATOR(pg_catalog.=) pg_catalog.to_regclass($1::pg_catalog.text)::pg_catalog.oid
      AND classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid
      AND objsubid OPERATOR(pg_catalog.=) 0) AS comment,
  ARRAY(SELECT name FROM pg_catalog.unnest($2::pg_catalog.text[]) AS each(name) WHERE pg_catalog.to_regclass(name) IS NULL)
  OPERATOR(pg_catalog.||) ARRAY(
    SELECT $1::pg_catalog.text OPERATOR(pg_catalog.||) '.origin'::pg_catalog.text
    WHERE pg_catalog.to_regclass($1::pg_catalog.text) IS NOT NULL AND NOT EXISTS (
      SELECT FROM pg_catalog.pg_attribute
      WHERE attrelid OPERATOR(pg_catalog.=) pg_catalog.to_regclass($1::pg_catalog.text)::pg_catalog.oid
        AND attname OPERATOR(pg_catalog.=) 'origin'::pg_catalog.name AND NOT attisdropped
    )
  ) AS missing`;

interface Wanted {
  readonly where: string;
  readonly tables: Tables;
  readonly createTables: boolean;
}

/** Facts of the server that calls need. */
export interface Examined {
  /** True if the server tells its timeline. Otherwise records are never doubted. */
  readonly tellsTimeline: boolean;
}

/**
 * Looks whether a server can keep records, and creates missing tables.
 *
 * @throws PostgresUnusableError if the database can't serve with these options
 * @throws StoreUnavailableError if the server can't serve now
 */
export async function examine(server: Server, wanted: Wanted, deadline: Deadline): Promise<Examined> {
  try {
    const missing = missingIn(await look(server, wanted.tables, deadline), wanted);
    const examined = { tellsTimeline: await tellsTimeline(server, deadline) };
    if (missing.length > 0) await create(server, { ...wanted, ...examined }, missing, deadline);
    return examined;
  } catch (error) {
    throw error instanceof Failed ? new StoreUnavailableError(said(error.cause), { cause: error.cause }) : error;
  }
}

async function look(server: Server, tables: Tables, deadline: Deadline): Promise<Look> {
  const rows = await server.run({ text: LOOK }, [tables.records, allOf(tables)], deadline);
  return rows[0] as unknown as Look;
}

function missingIn({ encoding, standby, comment, missing }: Look, { where, tables }: Wanted): string[] {
  if (encoding !== 'UTF8') {
    throw new PostgresUnusableError(`${where} has the encoding ${show(encoding)}: create a database with UTF8`);
  }
  if (standby) throw new StoreUnavailableError(`${where} is a standby: connect to the primary`);
  if (layoutIn(comment) <= LAYOUT) return missing;
  throw new PostgresUnusableError(
    `a newer version of nestjs-gatekeeper made the tables of schema ${show(tables.schema)} in ${where} (${comment}): update this application`,
  );
}

async function create(server: Server, wanted: Wanted & Examined, missing: string[], deadline: Deadline): Promise<void> {
  if (!wanted.createTables) throw new PostgresUnusableError(`${lacking(wanted, missing)}, or set createTables: true`);
  try {
    await server.run({ text: creation(wanted.tables, wanted.tellsTimeline) }, [], deadline);
  } catch (error) {
    // Without the right to create them.
    if (codeOf(error) !== '42501') throw error;
    throw new PostgresUnusableError(`${lacking(wanted, missing)} (${said((error as Failed).cause)})`, { cause: error });
  }
}

function lacking({ where, tables }: Wanted, missing: string[]): string {
  const named = missing.map((name) => name.replaceAll('"', '')).join(', ');
  return `${where} has no ${named}: as a user who may create tables, run the SQL of docs/stores.md for schema ${show(tables.schema)}`;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Failed ? (error.cause as { code?: string }).code : undefined;
}
