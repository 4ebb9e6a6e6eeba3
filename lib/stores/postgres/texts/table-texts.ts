import type { OrderedTexts, TextEntry, Texts } from '../../../core/store/driver.js';
import type { Calls } from '../calls.js';
import type { Row } from '../server.js';
import { storedForm, textOfStored } from '../stored-text.js';
import { INDEXED } from '../tables.js';
import { TableWrites } from './table-writes.js';
import {
  CHANGES,
  type Change,
  type ReadStatements,
  type TextRows,
  changeOf,
  plainRows,
  readStatements,
  writesOfMany,
  writesOfOne,
} from './text-statements.js';

/** Texts in a table, one row each. Writes that come together share statements. */
export class TableTexts implements Texts {
  protected sql!: ReadStatements;
  readonly #writes: Readonly<Record<Change, TableWrites>>;

  constructor(
    protected readonly calls: Calls,
    rows: TextRows,
  ) {
    this.#writes = { create: new TableWrites(calls), replace: new TableWrites(calls), remove: new TableWrites(calls) };
    this.useRows(rows);
  }

  /** Sets how statements see and write rows from now on. */
  useRows(rows: TextRows): void {
    const [one, many] = [writesOfOne(rows, { isDurable: true, isLimited: true }), writesOfMany(rows)];
    this.sql = readStatements(rows);
    for (const change of CHANGES) this.#writes[change].use({ one: one[change], many: many[change] });
  }

  async read(key: string): Promise<string | undefined> {
    const [row] = await this.calls.read(this.sql.read, [storedForm(key)]);
    return row && textOf(row);
  }

  async readMany(keys: readonly string[]): Promise<Map<string, string>> {
    return textsOf(await this.calls.read(this.sql.readMany, [keys.map(storedForm)]));
  }

  async compareAndSet(key: string, expected: string | undefined, next: string | undefined): Promise<boolean> {
    const write = { key, former: expected, next };
    const change = changeOf(write);
    return change ? this.#writes[change].write(write) : (await this.read(key)) === undefined;
  }
}

/** Texts in a table with an index of the beginnings of its texts. */
export class OrderedTableTexts extends TableTexts implements OrderedTexts {
  constructor(
    calls: Calls,
    private readonly table: string,
  ) {
    super(calls, plainRows(table));
  }

  /**
   * The beginnings narrow the search to a part of the index, and the texts themselves decide. The statement has no name, so
   * that it is planned for its values: a plan that was made while the table was empty would read all of a large one.
   */
  async range(from: string, to: string, limit: number): Promise<TextEntry[]> {
    const start = `pg_catalog."left"(text, ${INDEXED})`;
    const text = `SELECT key, text FROM ${this.table}
      WHERE ${start} OPERATOR(pg_catalog.>=) pg_catalog."left"($1::pg_catalog.text, ${INDEXED})
        AND ${start} OPERATOR(pg_catalog.<=) pg_catalog."left"($2::pg_catalog.text, ${INDEXED})
        AND text OPERATOR(pg_catalog.>=) $1::pg_catalog.text AND text OPERATOR(pg_catalog.<) $2::pg_catalog.text
      ORDER BY ${start}, text LIMIT $3::pg_catalog.int8`;
    const rows = await this.calls.read({ text }, [storedForm(from), storedForm(to), limit]);
    return rows.map((row) => ({ key: textOfStored(row['key'] as string), text: textOf(row) }));
  }
}

export function textOf(row: Row): string {
  return textOfStored(row['text'] as string);
}

export function textsOf(rows: Row[]): Map<string, string> {
  return new Map(rows.map((row) => [textOfStored(row['key'] as string), textOf(row)]));
}
