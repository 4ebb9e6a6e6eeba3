import { type TextWrite, ownHintOf } from '../../../core/store/gathered-writes.js';
import { type Statement, named } from '../server.js';
import { storedForm } from '../stored-text.js';

/**
 * Turns on the wait for the disk, for this transaction only, if the session has turned it off. Otherwise a crash of the server
 * could lose a write that it acknowledged.
 */
export const DURABLE = `CASE WHEN pg_catalog.current_setting('synchronous_commit') OPERATOR(pg_catalog.=) 'off'::pg_catalog.text
  THEN pg_catalog.set_config('synchronous_commit', 'on', true) ELSE ''::pg_catalog.text END`;

/**
 * A condition that is always true. It is evaluated once, before the first row is written, and sets for this transaction only, so
 * without a statement of its own, and without a trace in the connection: the wait for each row, and {@link DURABLE}.
 *
 * @param wait the parameter with the longest wait, ms
 */
const settingsOf = (wait: string): string => `(SELECT pg_catalog.concat(
  pg_catalog.set_config('lock_timeout', ${wait}::pg_catalog.text, true), ${DURABLE})) IS NOT NULL`;

/** SQL by the name of its column. */
type Columns = Readonly<Record<string, string>>;

/** The rows of a table with a text each, as statements see and write them. */
export interface TextRows {
  readonly table: string;
  /** SQL of the text as readers see it, and as writes compare it. */
  readonly seen: string;
  /** Columns beside key and text that a new row gets. */
  readonly created: Columns;
  /** Columns beside the text that a later write changes. */
  readonly replaced: Columns;
  /** The table of the hints that go with writes, if they may. */
  readonly hints?: string | undefined;
}

/** Rows with nothing but key and text. */
export const plainRows = (table: string, hints?: string): TextRows => ({
  table,
  seen: 'text',
  created: {},
  replaced: {},
  hints,
});

export const CHANGES = ['create', 'replace', 'remove'] as const;

/** Kinds of writes: one makes a row, one changes the text of a row, one removes a row. */
export type Change = (typeof CHANGES)[number];

/** @returns undefined if there is neither a text before nor after: then nothing is to be written */
export function changeOf({ former, next }: TextWrite): Change | undefined {
  if (former === undefined) return next === undefined ? undefined : 'create';
  return next === undefined ? 'remove' : 'replace';
}

/** Values of the first parameters of a write. */
export function valuesOf({ key, former, next }: TextWrite): string[] {
  return [key, former, next].filter((text) => text !== undefined).map(storedForm);
}

/** The texts in {@link valuesOf}, by name. */
const NAMES: Readonly<Record<Change, readonly string[]>> = {
  create: ['key', 'next'],
  replace: ['key', 'former', 'next'],
  remove: ['key', 'former'],
};

/** Values of the parameters for the hint of a write; null for a write without one, and for a hint that is the next text. */
export function hintValuesOf(write: TextWrite): readonly [queue: string | null, hint: string | null] {
  const own = ownHintOf(write);
  return [write.hint ? storedForm(write.hint.queue) : null, own === undefined ? null : storedForm(own)];
}

/** Rows of a page. */
export const PAGE = 500;

/** Statements that read, and those that write one text. */
export type TextStatements = Readonly<Record<'read' | 'readMany' | 'page' | Change, Statement>>;

/**
 * Statements of the store's own. Those that write compare and write at once, and answer the keys of the texts that they wrote. They
 * wait for the disk, also in a session that does not: see {@link DURABLE}. Parameters: {@link valuesOf}, and the ms for which the
 * write waits for a row that another transaction holds.
 */
export const statementsOf = (rows: TextRows): TextStatements => statements(rows, settingsOf);

/** For a transaction of the application, which decides about both waits by itself. Parameters of a write: {@link valuesOf}. */
export const statementsInTransaction = (rows: TextRows): TextStatements => statements(rows, () => 'true');

function statements(rows: TextRows, settings: (wait: string) => string): TextStatements {
  const { table, seen, created, replaced } = rows;
  return {
    read: named(`SELECT ${seen} AS text FROM ${table} WHERE key OPERATOR(pg_catalog.=) $1::pg_catalog.text`),
    readMany: named(
      `SELECT key, ${seen} AS text FROM ${table} WHERE key OPERATOR(pg_catalog.=) ANY($1::pg_catalog.text[])`,
    ),
    page: named(`SELECT key, ${seen} AS text FROM ${table} WHERE key OPERATOR(pg_catalog.>=) $1::pg_catalog.text
        AND key OPERATOR(pg_catalog.>) $2::pg_catalog.text AND key OPERATOR(pg_catalog.<) $3::pg_catalog.text
        ORDER BY key LIMIT ${PAGE}`),
    create:
      named(`INSERT INTO ${table} (key, text${namesOf(created)}) SELECT $1::pg_catalog.text, $2::pg_catalog.text${sqlOf(created)}
        WHERE ${settings('$3')} ON CONFLICT DO NOTHING RETURNING key`),
    replace:
      named(`UPDATE ${table} SET text = $3::pg_catalog.text${changesOf(replaced)} WHERE key OPERATOR(pg_catalog.=) $1::pg_catalog.text
        AND ${seen} OPERATOR(pg_catalog.=) $2::pg_catalog.text AND ${settings('$4')} RETURNING key`),
    remove: named(`DELETE FROM ${table} WHERE key OPERATOR(pg_catalog.=) $1::pg_catalog.text
        AND ${seen} OPERATOR(pg_catalog.=) $2::pg_catalog.text AND ${settings('$3')} RETURNING key`),
  };
}

/**
 * Each writes several texts, in the same manner as {@link statementsOf}. Parameters: a list for each of {@link valuesOf}, and the ms.
 *
 * Those that search rows have no name, so that they are planned for the present table: a plan that was made while it was
 * empty would read all of a large one.
 */
export function writesOfMany(rows: TextRows): Readonly<Record<Change, Statement>> {
  const { table, seen, created, replaced } = rows;
  const isMeant = `found.key OPERATOR(pg_catalog.=) each.key AND ${seen} OPERATOR(pg_catalog.=) each.former`;
  return {
    create:
      named(`INSERT INTO ${table} AS found (key, text${namesOf(created)}) SELECT key, next${sqlOf(created)} FROM ${eachOf('key, next')}
        WHERE ${settingsOf('$3')} ON CONFLICT DO NOTHING RETURNING found.key`),
    replace: {
      text: `UPDATE ${table} AS found SET text = each.next${changesOf(replaced)} FROM ${eachOf('key, former, next')}
        WHERE ${isMeant} AND ${settingsOf('$4')} RETURNING found.key`,
    },
    remove: {
      text: `DELETE FROM ${table} AS found USING ${eachOf('key, former')}
        WHERE ${isMeant} AND ${settingsOf('$3')} RETURNING found.key`,
    },
  };
}

/**
 * A write of one text with its hint, in one statement: a hint is only there if its text was written.
 *
 * @param hints the table of hints
 * @param write the statement of the write
 * @param before number of its parameters. Those of {@link hintValuesOf} follow
 * @param notified SQL that is evaluated if the text was written, after a comma
 */
export function withHint(
  change: Change,
  hints: string,
  write: Statement,
  before: number,
  notified = '',
): { readonly text: string } {
  const next = NAMES[change].indexOf('next') + 1;
  const [queue, own] = [`$${before + 1}::pg_catalog.text`, `$${before + 2}::pg_catalog.text`];
  const hint = next > 0 ? `coalesce(${own}, $${next}::pg_catalog.text)` : own;
  return {
    text: `WITH written AS (${write.text}),
        hinted AS (INSERT INTO ${hints} (queue, hint) SELECT ${queue}, ${hint} FROM written)
        SELECT written.*${notified} FROM written`,
  };
}

/**
 * A write of several texts with their hints, in one statement. Parameters: those of the write, lists for {@link hintValuesOf}, and a
 * list of numbers: the order of the hints.
 */
function withHints(change: Change, hints: string, write: Statement): { readonly text: string } {
  const lists = NAMES[change].map((name, place) => ({ name, list: `$${place + 1}::pg_catalog.text[]` }));
  const texts = lists.filter(({ name }) => name !== 'former');
  const [queues, owns, places] = [2, 3, 4].map((place) => `$${lists.length + place}`);
  const arrays = [...texts.map(({ list }) => list), `${queues}::pg_catalog.text[]`, `${owns}::pg_catalog.text[]`];
  const each = [...arrays, `${places}::pg_catalog.int4[]`].map((list) => `pg_catalog.unnest(${list})`);
  const hint = change === 'remove' ? 'each.hint' : 'coalesce(each.hint, each.next)';
  return {
    text: `WITH written AS (${write.text}),
        hinted AS (INSERT INTO ${hints} (queue, hint) SELECT each.queue, ${hint}
          FROM written, ROWS FROM (${each.join(', ')}) AS each(${texts.map(({ name }) => name).join(', ')}, queue, hint, place)
          WHERE each.key OPERATOR(pg_catalog.=) written.key AND each.queue IS NOT NULL ORDER BY each.place)
        SELECT written.* FROM written`,
  };
}

/** Statements that write one text, or several ones. */
export interface Forms {
  readonly one: Statement;
  readonly many: Statement;
}

/** The statements for one kind of writes, without hints, and with them. */
export interface WriteForms {
  readonly plain: Forms;
  readonly hinted: Forms;
}

/** The statements of all writes of the store's own. Names are kept: only a statement without one is planned for its values. */
export function writeFormsOf(rows: TextRows): Readonly<Record<Change, WriteForms>> {
  const [one, many] = [statementsOf(rows), writesOfMany(rows)];
  const formsOf = (change: Change): WriteForms => {
    const plain = { one: one[change], many: many[change] };
    if (rows.hints === undefined) return { plain, hinted: plain };
    const single = withHint(change, rows.hints, plain.one, NAMES[change].length + 1);
    const several = withHints(change, rows.hints, plain.many);
    return { plain, hinted: { one: named(single.text), many: plain.many.name ? named(several.text) : several } };
  };
  return { create: formsOf('create'), replace: formsOf('replace'), remove: formsOf('remove') };
}

/** Rows of parameters that are arrays. */
function eachOf(names: string): string {
  const arrays = names.split(', ').map((_, place) => `pg_catalog.unnest($${place + 1}::pg_catalog.text[])`);
  return `ROWS FROM (${arrays.join(', ')}) AS each(${names})`;
}

/** Parts of statements, each after a comma: the names of columns, their SQL, and both. */
const namesOf = (columns: Columns) => list(columns, ([name]) => name);
const sqlOf = (columns: Columns) => list(columns, ([, sql]) => sql);
const changesOf = (columns: Columns) => list(columns, ([name, sql]) => `${name} = ${sql}`);

function list(columns: Columns, partOf: (column: [name: string, sql: string]) => string): string {
  return Object.entries(columns)
    .map((column) => `, ${partOf(column)}`)
    .join('');
}
