import {
  CorruptArchiveError,
  type DefinitionArchive,
  RefusedDefinitionsError,
  byName,
  isFurther,
  merge,
} from '../definition-archive.js';
import { type ArchivedDefinition, escapeHidden, show } from '../../../../core/decision/index.js';
import { ARCHIVE_VERSION, decodeArchived, refuseNewer } from '../archive.codec.js';
import { ArchiveTable, quotedTable } from '../../../archives/postgres/archive-table.js';
import type { Connection } from '../../../archives/postgres/connection.js';
import { isTableMissing, isRefusedValue } from '../../../archives/postgres/refusal.js';

interface Row {
  readonly name: string;
  readonly version: number;
  readonly body: unknown;
}

/** Definitions in a table, one row each. The SQL statement itself keeps the row with the higher revision. */
export class PostgresArchive implements DefinitionArchive {
  readonly #sql: ReturnType<typeof statements>;
  readonly #rows: ArchiveTable;
  /** Definitions that are surely in the table. */
  #kept: ReadonlyMap<string, ArchivedDefinition> = new Map();
  /** Definitions that the database refused, by name. They are sent again only after a change. */
  readonly #refused = new Map<string, RefusedRow>();

  constructor(
    connection: Connection,
    private readonly table: string,
  ) {
    this.#sql = statements(table);
    this.#rows = new ArchiveTable(connection, table, this.#sql.create);
  }

  async load(): Promise<ArchivedDefinition[]> {
    const rows = await this.#rows.query(this.#sql.load);
    const definitions = await this.#decoded(rows as Row[]);
    this.#kept = byName(definitions);
    return definitions;
  }

  async save(definitions: readonly ArchivedDefinition[]): Promise<void> {
    const { changes } = merge(this.#kept, definitions);
    const due = changes.filter((each) => isFurther(each, this.#refused.get(each.name)?.definition));
    if (due.length > 0) await this.#saveApart(due);
    if (this.#refused.size > 0) throw refusal([...this.#refused.values()]);
  }

  async #saveApart(due: readonly ArchivedDefinition[]): Promise<void> {
    const { rows, refused } = await saveApart(due, (part) => this.#write(part));
    this.#refuseNewer(rows);
    for (const { name } of due) this.#refused.delete(name);
    for (const row of refused) this.#refused.set(row.definition.name, row);
    const saved = due.filter(({ name }) => !this.#refused.has(name));
    this.#kept = merge(this.#kept, saved).merged;
  }

  /** Call this after the table was dropped: the next call writes all definitions. */
  #forget(): void {
    this.#kept = new Map();
    this.#refused.clear();
  }

  close(): Promise<void> {
    return this.#rows.close();
  }

  /** Writes all changes or none, with one statement. */
  async #write(changes: readonly ArchivedDefinition[]): Promise<Row[]> {
    const columns = [
      changes.map(({ name }) => name),
      changes.map(({ revision }) => revision),
      changes.map((each) => JSON.stringify(each)),
    ];
    const rows = await this.#rows.query(this.#sql.save, [...columns, ARCHIVE_VERSION]).catch((error: unknown) => {
      if (isTableMissing(error)) this.#forget();
      throw error;
    });
    return rows as Row[];
  }

  /** Puts unreadable rows aside. @throws CorruptArchiveError if there are any; the next call returns the others */
  async #decoded(rows: readonly Row[]): Promise<ArchivedDefinition[]> {
    this.#refuseNewer(rows);
    const faults: string[] = [];
    const definitions: ArchivedDefinition[] = [];
    for (const { name, body } of rows) {
      try {
        definitions.push(decodeArchived(`the row of ${show(name)} in ${this.table}`, body));
      } catch (error) {
        await this.#rows.query(this.#sql.putAside, [name, JSON.stringify(body)]);
        faults.push((error as Error).message);
      }
    }
    if (faults.length === 0) return definitions;
    throw new CorruptArchiveError(
      `${faults.join('; ')}. Put aside: their column put_aside says when, and they are no longer read`,
    );
  }

  #refuseNewer(rows: readonly Row[]): void {
    for (const { name, version } of rows) refuseNewer(`the row of ${show(name)} in ${this.table}`, version);
  }
}

/** Largest number of names in one log line. */
const MOST_NAMED = 10;

function refusal(refused: readonly RefusedRow[]): RefusedDefinitionsError {
  const named = refused
    .slice(0, MOST_NAMED)
    .map(({ definition, error }) => `${show(definition.name)} (${escapeHidden(error.message)})`);
  const names = refused.map(({ definition }) => definition.name);
  return new RefusedDefinitionsError(names, named.join(', '));
}

/** @param table name of the table, maybe with a schema */
function statements(table: string) {
  const quoted = quotedTable(table);
  return {
    create: `CREATE TABLE IF NOT EXISTS ${quoted} (
      name pg_catalog.text NOT NULL,
      put_aside pg_catalog.text NOT NULL DEFAULT '',
      revision pg_catalog.int8 NOT NULL,
      version pg_catalog.int4 NOT NULL,
      body pg_catalog.jsonb NOT NULL,
      saved_at pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.now(),
      PRIMARY KEY (name, put_aside)
    )`,
    load: `SELECT name, version, body FROM ${quoted} WHERE put_aside OPERATOR(pg_catalog.=) ''::pg_catalog.text`,
    // Returns the rows that a newer version wrote, which stay unchanged. Writes in the order of names: two nodes that
    // save the same rows in different orders would block each other, and one of them would fail.
    save: `WITH given AS (
      SELECT name, revision, body FROM ROWS FROM (
        pg_catalog.unnest($1::pg_catalog.text[]), pg_catalog.unnest($2::pg_catalog.int8[]), pg_catalog.unnest($3::pg_catalog.jsonb[])
      ) AS each(name, revision, body)
    ), written AS (
      INSERT INTO ${quoted} AS kept (name, revision, version, body)
      SELECT name, revision, $4::pg_catalog.int4, body FROM given ORDER BY name
      ON CONFLICT (name, put_aside) DO UPDATE
        SET revision = excluded.revision, version = excluded.version, body = excluded.body, saved_at = pg_catalog.now()
        WHERE kept.version OPERATOR(pg_catalog.<=) excluded.version AND (
          kept.revision OPERATOR(pg_catalog.<) excluded.revision OR (
            kept.revision OPERATOR(pg_catalog.=) excluded.revision AND kept.body OPERATOR(pg_catalog.<>) excluded.body
          )
        )
    )
    SELECT kept.name, kept.version FROM ${quoted} AS kept, given WHERE kept.name OPERATOR(pg_catalog.=) given.name
      AND kept.put_aside OPERATOR(pg_catalog.=) ''::pg_catalog.text AND kept.version OPERATOR(pg_catalog.>) $4::pg_catalog.int4`,
    // Only if the row is still as it was read: a person may have repaired it since.
    putAside: `UPDATE ${quoted} SET put_aside = pg_catalog.now()::pg_catalog.text WHERE name OPERATOR(pg_catalog.=) $1::pg_catalog.text
      AND put_aside OPERATOR(pg_catalog.=) ''::pg_catalog.text AND body OPERATOR(pg_catalog.=) $2::pg_catalog.jsonb`,
  };
}

/** The outcome of a save, row by row. */
interface SavedApart<Row> {
  /** The answers of the statements. */
  readonly rows: Row[];
  readonly refused: RefusedRow[];
}

/** A row that the database refused because of its values. */
interface RefusedRow {
  readonly definition: ArchivedDefinition;
  readonly error: Error;
}

/**
 * Writes all definitions in one statement. If the database refuses a value, writes each half separately, down to the
 * single refused row. So a refused row does not stop any other row.
 *
 * @param write writes all or nothing
 * @throws any error of `write` that a row's value did not cause
 */
async function saveApart<Row>(
  definitions: readonly ArchivedDefinition[],
  write: (definitions: readonly ArchivedDefinition[]) => Promise<Row[]>,
): Promise<SavedApart<Row>> {
  try {
    return { rows: await write(definitions), refused: [] };
  } catch (error) {
    if (!isRefusedValue(error)) throw error;
    if (definitions.length === 1) return { rows: [], refused: [{ definition: definitions[0]!, error }] };
    const middle = Math.ceil(definitions.length / 2);
    const first = await saveApart(definitions.slice(0, middle), write);
    const second = await saveApart(definitions.slice(middle), write);
    return { rows: [...first.rows, ...second.rows], refused: [...first.refused, ...second.refused] };
  }
}
