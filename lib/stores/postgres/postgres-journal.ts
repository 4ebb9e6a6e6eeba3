import type { Journal } from '../../core/store/driver.js';
import { portionsOf } from '../../core/store/text-batches.js';
import type { Calls } from './calls.js';
import { storedForm } from './stored-text.js';
import type { Row } from './server.js';
import type { Tables } from './tables.js';
import { textOf } from './texts/table-texts.js';
import { DURABLE } from './texts/text-statements.js';

/** Number of texts that a journal shows. */
const CAPACITY = 10_000;
/** Largest number of texts per statement. */
const MOST_AT_ONCE = 1000;

/** A journal: rows of a table. Older texts are deleted after each {@link MOST_AT_ONCE} texts that this client added. */
export class PostgresJournal implements Journal {
  readonly #sql: { readonly append: string; readonly read: string; readonly trim: string };

  /** @param trimming numbers of texts that this client may still add before it deletes older ones, by journal */
  constructor(
    readonly name: string,
    private readonly calls: Calls,
    private readonly trimming: Map<string, number>,
    { journals }: Tables,
  ) {
    this.#sql = {
      append: `INSERT INTO ${journals} (name, text) SELECT $1::pg_catalog.text, text FROM pg_catalog.unnest($2::pg_catalog.text[]) WITH ORDINALITY AS each(text, place)
        ORDER BY place RETURNING ${DURABLE}`,
      read: `SELECT id::pg_catalog.text AS place, text FROM ${journals} WHERE name OPERATOR(pg_catalog.=) $1::pg_catalog.text
        AND ($2::pg_catalog.int8 IS NULL OR id OPERATOR(pg_catalog.<) $2::pg_catalog.int8) ORDER BY id DESC LIMIT $3::pg_catalog.int8`,
      trim: `DELETE FROM ${journals} WHERE name OPERATOR(pg_catalog.=) $1::pg_catalog.text AND id OPERATOR(pg_catalog.<=) (
        SELECT id FROM ${journals} WHERE name OPERATOR(pg_catalog.=) $1::pg_catalog.text ORDER BY id DESC OFFSET ${CAPACITY} LIMIT 1)`,
    };
  }

  async append(texts: readonly string[]): Promise<void> {
    if (texts.length === 0) return;
    this.calls.assertOpen();
    for (const some of portionsOf(texts.map(storedForm), MOST_AT_ONCE)) {
      await this.calls.write({ text: this.#sql.append }, [this.name, some]);
    }
    await this.#trim(texts.length);
  }

  async read(limit: number): Promise<string[]> {
    const most = Math.min(limit, CAPACITY);
    const rows: Row[] = [];
    do {
      const values = [this.name, rows.at(-1)?.['place'] ?? null, Math.min(most - rows.length, MOST_AT_ONCE)];
      const page = await this.calls.read({ text: this.#sql.read }, values);
      rows.push(...page);
      if (page.length < MOST_AT_ONCE) break;
    } while (rows.length < most);
    return rows.map(textOf).toReversed();
  }

  async #trim(added: number): Promise<void> {
    const left = (this.trimming.get(this.name) ?? 0) - added;
    this.trimming.set(this.name, left > 0 ? left : MOST_AT_ONCE);
    // The texts were added, whatever becomes of this; the next client or call deletes what this one did not.
    if (left <= 0) await this.calls.write({ text: this.#sql.trim }, [this.name]).catch(() => undefined);
  }
}
