import type { Timers } from '../../../core/async/timers.js';
import type { OrderedTexts, TextEntry, Texts, WriteOptions } from '../../../core/store/driver.js';
import type { TextWrite } from '../../../core/store/gathered-writes.js';
import type { Calls } from '../calls.js';
import type { Row } from '../server.js';
import { storedForm, textOfStored } from '../stored-text.js';
import { INDEXED } from '../tables.js';
import { TableWrites } from './table-writes.js';
import {
  type Change,
  type ReadStatements,
  changeOf,
  plainRows,
  readStatements,
  writesOfMany,
  writesOfOne,
} from './text-statements.js';

/** Texts in a table, one row each. Subclasses say what is read, and how a write is sent. */
export abstract class RowTexts implements Texts {
  protected abstract readonly sql: ReadStatements;

  constructor(protected readonly calls: Calls) {}

  async read(key: string): Promise<string | undefined> {
    const [row] = await this.calls.reading(this.sql.read, [storedForm(key)]);
    return row && textOf(row);
  }

  async readMany(keys: readonly string[]): Promise<Map<string, string>> {
    return textsOf(await this.calls.reading(this.sql.readMany, [keys.map(storedForm)]));
  }

  async compareAndSet(
    key: string,
    expected: string | undefined,
    next: string | undefined,
    options?: WriteOptions,
  ): Promise<boolean> {
    const write = { key, former: expected, next };
    const change = changeOf(write);
    return change ? this.write(change, write, options) : (await this.read(key)) === undefined;
  }

  /** @returns whether the text was written */
  protected abstract write(change: Change, write: TextWrite, options?: WriteOptions): Promise<boolean>;
}

/** Texts of tasks or groups. Writes that come together share statements. */
export class TableTexts extends RowTexts {
  protected readonly sql: ReadStatements;
  readonly #writes: Readonly<Record<Change, TableWrites>>;

  constructor(
    calls: Calls,
    protected readonly table: string,
    timing: { readonly timers: Timers; readonly timeout: number },
  ) {
    super(calls);
    const rows = plainRows(table);
    const [one, many] = [writesOfOne(rows, { isDurable: true, isLimited: true }), writesOfMany(rows)];
    const writes = (change: Change) => new TableWrites({ one: one[change], many: many[change] }, { calls, ...timing });
    this.sql = readStatements(rows);
    this.#writes = { create: writes('create'), replace: writes('replace'), remove: writes('remove') };
  }

  protected write(change: Change, write: TextWrite): Promise<boolean> {
    return this.#writes[change].write(write);
  }
}

/** Texts in a table with an index of the beginnings of its texts. */
export class OrderedTableTexts extends TableTexts implements OrderedTexts {
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
    const rows = await this.calls.reading({ text }, [storedForm(from), storedForm(to), limit]);
    return rows.map((row) => ({ key: textOfStored(row['key'] as string), text: textOf(row) }));
  }
}

export function textOf(row: Row): string {
  return textOfStored(row['text'] as string);
}

export function textsOf(rows: Row[]): Map<string, string> {
  return new Map(rows.map((row) => [textOfStored(row['key'] as string), textOf(row)]));
}
