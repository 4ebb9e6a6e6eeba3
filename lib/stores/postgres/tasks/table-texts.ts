import { StoreUnavailableError } from '../../store.errors.js';
import type { SortedTexts, TextEntry, Texts } from '../../task-storage.js';
import type { Calls } from '../calls.js';
import { textOf, textsOf } from '../postgres-records.js';
import { DURABLE } from '../record-statements.js';
import type { Row, Statement } from '../server.js';
import { storedForm, textOfStored } from '../stored-text.js';
import { INDEXED } from '../tables.js';

/** Attempts to create a text under a key whose text others create and remove at the same time. */
const MOST_ATTEMPTS = 5;

/** Texts in a table, one row each. One statement compares and writes. */
export class TableTexts implements Texts {
  readonly #sql: Readonly<Record<'read' | 'readMany' | 'create' | 'replace' | 'remove', Statement>>;

  constructor(
    protected readonly calls: Calls,
    protected readonly table: string,
  ) {
    const named = (name: string, text: string) => ({ name: `gatekeeper.${table.replaceAll('"', '')}.${name}`, text });
    this.#sql = {
      read: named('read', `SELECT text FROM ${table} WHERE key = $1`),
      readMany: named('readMany', `SELECT key, text FROM ${table} WHERE key = ANY($1::text[])`),
      create: named('create', `INSERT INTO ${table} VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING ${DURABLE}`),
      replace: named('replace', `UPDATE ${table} SET text = $3 WHERE key = $1 AND text = $2 RETURNING ${DURABLE}`),
      remove: named('remove', `DELETE FROM ${table} WHERE key = $1 AND text = $2 RETURNING ${DURABLE}`),
    };
  }

  async read(key: string): Promise<string | undefined> {
    const [row] = await this.calls.reading(this.#sql.read, [storedForm(key)]);
    return row && textOf(row);
  }

  async readMany(keys: readonly string[]): Promise<Map<string, string>> {
    return textsOf(await this.calls.reading(this.#sql.readMany, [keys.map(storedForm)]));
  }

  /** The text that was there may be removed before it is read. Then there is none again. */
  async create(key: string, text: string): Promise<string | undefined> {
    for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
      if ((await this.#write(this.#sql.create, [key, text])).length > 0) return undefined;
      const found = await this.read(key);
      if (found !== undefined) return found;
    }
    throw new StoreUnavailableError(`The text under ${key} was created and removed again and again: try again`);
  }

  async replace(key: string, expected: string, next: string): Promise<boolean> {
    return (await this.#write(this.#sql.replace, [key, expected, next])).length > 0;
  }

  async remove(key: string, expected: string): Promise<boolean> {
    return (await this.#write(this.#sql.remove, [key, expected])).length > 0;
  }

  #write(statement: Statement, texts: string[]): Promise<Row[]> {
    return this.calls.writingSoon(statement, texts.map(storedForm));
  }
}

/** Texts in a table with an index of the beginnings of its texts. */
export class SortedTableTexts extends TableTexts implements SortedTexts {
  /**
   * The beginnings narrow the search to a part of the index, and the texts themselves decide. The statement has no name, so
   * that it is planned for its values: a plan that was made while the table was empty would read all of a large one.
   */
  async range(from: string, to: string, limit: number): Promise<TextEntry[]> {
    const start = `left(text, ${INDEXED})`;
    const text = `SELECT key, text FROM ${this.table}
      WHERE ${start} >= left($1::text, ${INDEXED}) AND ${start} <= left($2::text, ${INDEXED}) AND text >= $1 AND text < $2
      ORDER BY ${start}, text LIMIT $3`;
    const rows = await this.calls.reading({ text }, [storedForm(from), storedForm(to), limit]);
    return rows.map((row) => ({ key: textOfStored(row['key'] as string), text: textOf(row) }));
  }
}
