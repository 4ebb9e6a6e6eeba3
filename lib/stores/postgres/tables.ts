import { TIMELINE } from './timeline.js';

/**
 * Layout of the tables; a comment on the table of records says it. A change that older versions can't work with needs the
 * next number. A column with a default does not.
 */
export const LAYOUT = 1;
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

/** Each table and sequence that must exist. */
export const allOf = ({ records, notes, journals, tasks, groups, hints }: Tables): string[] => [
  records,
  notes,
  journals,
  tasks,
  groups,
  hints,
];

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
export function creation(tables: Tables, tellsTimeline: boolean): string {
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
export function layoutIn(comment: string | null): number {
  return comment?.startsWith(LAYOUT_COMMENT) ? Number(comment.slice(LAYOUT_COMMENT.length)) : 0;
}
