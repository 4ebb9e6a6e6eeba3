import type { Timers } from '../../../core/async/timers.js';
import { StoreUnavailableError } from '../../../core/store/store.errors.js';
import type { SortedTexts, TextEntry, Texts } from '../../../core/store/task-storage.js';
import type { Calls } from '../calls.js';
import { textOf, textsOf } from '../postgres-records.js';
import { DURABLE } from '../record-statements.js';
import type { Statement } from '../server.js';
import { storedForm, textOfStored } from '../stored-text.js';
import { INDEXED } from '../tables.js';
import { type Forms, TableWrites, limitedBy } from './table-writes.js';

/** Attempts to create a text under a key whose text others create and remove at the same time. */
const MOST_ATTEMPTS = 5;

/** Texts in a table, one row each. One statement compares and writes. */
export class TableTexts implements Texts {
  readonly #sql: Readonly<Record<'read' | 'readMany', Statement>>;
  readonly #creations: TableWrites;
  readonly #replacements: TableWrites;
  readonly #removals: TableWrites;

  constructor(
    protected readonly calls: Calls,
    protected readonly table: string,
    timing: { readonly timers: Timers; readonly timeout: number },
  ) {
    const named = (name: string, text: string) => ({ name: `gatekeeper.${table.replaceAll('"', '')}.${name}`, text });
    this.#sql = {
      read: named('read', `SELECT text FROM ${table} WHERE key OPERATOR(pg_catalog.=) $1::pg_catalog.text`),
      readMany: named(
        'readMany',
        `SELECT key, text FROM ${table} WHERE key OPERATOR(pg_catalog.=) ANY($1::pg_catalog.text[])`,
      ),
    };
    const written = `RETURNING key, ${DURABLE}`;
    const found = `RETURNING found.key, ${DURABLE}`;
    const writes = (forms: Forms) => new TableWrites(forms, { calls, ...timing });
    this.#creations = writes({
      one: named(
        'create',
        `INSERT INTO ${table} SELECT $1::pg_catalog.text, $2::pg_catalog.text WHERE ${limitedBy('$3')} ON CONFLICT DO NOTHING ${written}`,
      ),
      many: named(
        'createMany',
        `INSERT INTO ${table} SELECT key, next FROM ${eachOf('key, next')} WHERE ${limitedBy('$3')}
          ON CONFLICT DO NOTHING ${written}`,
      ),
      valuesOf: ({ key, next }) => [key, next!],
    });
    this.#replacements = writes({
      one: named(
        'replace',
        `UPDATE ${table} SET text = $3::pg_catalog.text WHERE key OPERATOR(pg_catalog.=) $1::pg_catalog.text
          AND text OPERATOR(pg_catalog.=) $2::pg_catalog.text AND ${limitedBy('$4')} ${written}`,
      ),
      many: {
        text: `UPDATE ${table} AS found SET text = each.next FROM ${eachOf('key, former, next')}
          WHERE found.key OPERATOR(pg_catalog.=) each.key AND found.text OPERATOR(pg_catalog.=) each.former AND ${limitedBy('$4')} ${found}`,
      },
      valuesOf: ({ key, former, next }) => [key, former!, next!],
    });
    this.#removals = writes({
      one: named(
        'remove',
        `DELETE FROM ${table} WHERE key OPERATOR(pg_catalog.=) $1::pg_catalog.text
          AND text OPERATOR(pg_catalog.=) $2::pg_catalog.text AND ${limitedBy('$3')} ${written}`,
      ),
      many: {
        text: `DELETE FROM ${table} AS found USING ${eachOf('key, former')}
          WHERE found.key OPERATOR(pg_catalog.=) each.key AND found.text OPERATOR(pg_catalog.=) each.former AND ${limitedBy('$3')} ${found}`,
      },
      valuesOf: ({ key, former }) => [key, former!],
    });
  }

  async read(key: string): Promise<string | undefined> {
    const [row] = await this.calls.reading(this.#sql.read, [storedForm(key)]);
    return row && textOf(row);
  }

  async readMany(keys: readonly string[]): Promise<Map<string, string>> {
    return textsOf(await this.calls.reading(this.#sql.readMany, [keys.map(storedForm)]));
  }

  create(key: string, text: string): Promise<string | undefined> {
    const created = async () => (await this.#creations.write({ key, next: text })) === true;
    return createOrFind(key, created, () => this.read(key));
  }

  async replace(key: string, expected: string, next: string): Promise<boolean> {
    return (await this.#replacements.write({ key, former: expected, next })) === true;
  }

  async remove(key: string, expected: string): Promise<boolean> {
    return (await this.#removals.write({ key, former: expected })) === true;
  }
}

/**
 * Creates a text, or finds the one that is there. That may be removed before it is read: then there is none again.
 *
 * @returns undefined if it was created
 */
export async function createOrFind(
  key: string,
  create: () => Promise<boolean>,
  read: () => Promise<string | undefined>,
): Promise<string | undefined> {
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
    if (await create()) return undefined;
    const found = await read();
    if (found !== undefined) return found;
  }
  throw new StoreUnavailableError(`The text under ${key} was created and removed again and again: try again`);
}

/** Rows of parameters that are arrays. */
function eachOf(names: string): string {
  const arrays = names.split(', ').map((_, place) => `pg_catalog.unnest($${place + 1}::pg_catalog.text[])`);
  return `ROWS FROM (${arrays.join(', ')}) AS each(${names})`;
}

/** Texts in a table with an index of the beginnings of its texts. */
export class SortedTableTexts extends TableTexts implements SortedTexts {
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
