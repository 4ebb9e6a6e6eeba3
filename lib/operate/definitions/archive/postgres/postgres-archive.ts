import {
  CorruptArchiveError,
  type DefinitionArchive,
  RefusedDefinitionsError,
  byName,
  isFurther,
  merge,
} from '../definition-archive.js';
import type { ArchivedDefinition } from '../../../../core/decision/index.js';
import { escapeHidden, show } from '../../../../core/decision/index.js';
import { ARCHIVE_VERSION, decodeArchived, refuseNewer } from '../archive.codec.js';
import { ArchiveTable } from '../../../archives/postgres/archive-table.js';
import type { Connection } from '../../../archives/postgres/connection.js';
import { isTableMissing } from '../../../archives/postgres/refusal.js';
import { type RefusedRow, saveApart } from './save-apart.js';
import { statements } from './statements.js';

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
