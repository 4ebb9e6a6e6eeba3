import type { Deadline } from '../../core/async/deadline.js';
import { show } from '../../core/decision/texts/show.js';
import { StoreUnavailableError } from '../../core/store/store.errors.js';
import { Failed, type PgError, PostgresUnusableError, said } from './failures.js';
import type { Server } from './server.js';
import { TIMELINE, tellsTimeline } from './timeline.js';

/**
 * Layout of the tables; a comment on the table of records says it. A change that older versions can't work with needs the
 * next number. A column with a default does not.
 */
const LAYOUT = 1;
const LAYOUT_COMMENT = 'nestjs-gatekeeper layout ';

/** Longest text that is indexed, in characters. See the comment of the index in {@link tablesOf}. */
export const INDEXED = 200;

/** ms for which a change of a table waits for others that use it. */
const LONGEST_LOCK = 500;

/** Names of the tables, with their schema. */
export interface Tables {
  readonly schema: string;
  readonly records: string;
  /** Sequence of the column `noted`. */
  readonly notes: string;
  readonly journals: string;
  readonly tasks: string;
  readonly groups: string;
  readonly hints: string;
}

export function tableNames(schema: string): Tables {
  const named = (table: string) => `"${schema}".${table}`;
  return {
    schema,
    records: named('records'),
    notes: named('notes'),
    journals: named('journals'),
    tasks: named('tasks'),
    groups: named('task_groups'),
    hints: named('task_hints'),
  };
}

/**
 * The statements that create the tables. Each may run again without effect.
 *
 * - Texts have the collation "C", so that they compare by their bytes, whatever the database's default is.
 * - Half of each page of records stays free. A grant, a refresh and a release change no indexed column, so PostgreSQL
 *   writes the new row into the same page and touches no index (HOT updates).
 * - A row of an index has a limit of about 2,700 bytes, and a task may have any size, so only the first characters are
 *   indexed. This finds the same texts: the order of two texts is the order of their beginnings, unless these are equal,
 *   and then the query compares the texts. The beginnings differ, because the place of a task in the order, and its id,
 *   stand in the first 200 characters.
 * - The default of `origin` is for rows that an older version creates: it does not know the column.
 * - Hints need not survive a crash, so their table writes no log.
 */
export function tablesOf(tables: Tables, tellsTimeline = true): string[] {
  const { schema, records, notes, journals, tasks, groups, hints } = tables;
  return [
    `CREATE TABLE IF NOT EXISTS ${records} (
  key pg_catalog.text COLLATE pg_catalog."C" PRIMARY KEY,
  text pg_catalog.text COLLATE pg_catalog."C" NOT NULL,
  noted pg_catalog.int8,
  ${originOf(tellsTimeline)}
) WITH (fillfactor = 50)`,
    `CREATE INDEX IF NOT EXISTS records_noted ON ${records} (noted) WHERE noted IS NOT NULL`,
    `CREATE SEQUENCE IF NOT EXISTS ${notes}`,
    `CREATE TABLE IF NOT EXISTS ${journals} (
  name pg_catalog.text COLLATE pg_catalog."C" NOT NULL,
  id pg_catalog.int8 GENERATED ALWAYS AS IDENTITY,
  text pg_catalog.text NOT NULL,
  PRIMARY KEY (name, id)
)`,
    `CREATE TABLE IF NOT EXISTS ${tasks} (
  key pg_catalog.text COLLATE pg_catalog."C" PRIMARY KEY,
  text pg_catalog.text COLLATE pg_catalog."C" NOT NULL
)`,
    `CREATE INDEX IF NOT EXISTS tasks_order ON ${tasks} (pg_catalog."left"(text, ${INDEXED}))`,
    `CREATE TABLE IF NOT EXISTS ${groups} (
  key pg_catalog.text COLLATE pg_catalog."C" PRIMARY KEY,
  text pg_catalog.text COLLATE pg_catalog."C" NOT NULL
)`,
    `CREATE UNLOGGED TABLE IF NOT EXISTS ${hints} (
  queue pg_catalog.text COLLATE pg_catalog."C" NOT NULL,
  id pg_catalog.int8 GENERATED ALWAYS AS IDENTITY,
  hint pg_catalog.text NOT NULL,
  PRIMARY KEY (queue, id)
) WITH (autovacuum_vacuum_scale_factor = 0.01)`,
    `COMMENT ON TABLE "${schema}".records IS '${LAYOUT_COMMENT}${LAYOUT}'`,
  ];
}

/** The timeline in which a row was written; null if that is unknown. */
const originOf = (tellsTimeline: boolean) =>
  `origin pg_catalog.text COLLATE pg_catalog."C"${tellsTimeline ? ` DEFAULT ${TIMELINE}` : ''}`;

/**
 * Adds what tables of older versions lack. Rows that are there get the present timeline, so the update of the application
 * brings no doubt.
 */
export const additionTo = ({ records }: Tables, tellsTimeline = true): string =>
  `ALTER TABLE ${records} ADD COLUMN IF NOT EXISTS ${originOf(tellsTimeline)}`;

/**
 * One statement that creates schema and tables. The lock lets nodes that start together create them one after another:
 * without it, one of two `CREATE … IF NOT EXISTS` at the same time may fail. The schema is created only if it is missing,
 * because even `IF NOT EXISTS` needs the right to create one.
 *
 * A change of a table that is there waits for all transactions that use it, such as a backup, and all calls of other nodes
 * wait behind it. So it gives up soon, and is tried again.
 */
function creation(tables: Tables, tellsTimeline: boolean): string {
  const { schema } = tables;
  return `DO $creation$ BEGIN
  PERFORM pg_catalog.pg_advisory_xact_lock(
    pg_catalog.hashtextextended('nestjs-gatekeeper ${schema}'::pg_catalog.text, 0::pg_catalog.int8));
  PERFORM pg_catalog.set_config('lock_timeout', '${LONGEST_LOCK}', true);
  IF pg_catalog.to_regnamespace('"${schema}"'::pg_catalog.text) IS NULL THEN CREATE SCHEMA "${schema}"; END IF;
  ${[...tablesOf(tables, tellsTimeline), additionTo(tables, tellsTimeline)].join(';\n  ')};
END $creation$`;
}

/** The layout that a comment says; 0 if it says none. */
function layoutIn(comment: string | null): number {
  return comment?.startsWith(LAYOUT_COMMENT) ? Number(comment.slice(LAYOUT_COMMENT.length)) : 0;
}

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

async function look(server: Server, { schema: _schema, ...names }: Tables, deadline: Deadline): Promise<Look> {
  const rows = await server.run({ text: LOOK }, [names.records, Object.values(names)], deadline);
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
  return error instanceof Failed ? (error.cause as PgError).code : undefined;
}
