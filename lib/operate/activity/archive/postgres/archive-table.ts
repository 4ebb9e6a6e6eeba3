import type { Queries } from '../../../../stores/postgres/pg.js';
import type { Connection } from './connection.js';
import { isTableMissing } from './refusal.js';

/** @param table name of a table, maybe with a schema; the options' schema has checked that it needs no escape */
export function quotedTable(table: string): string {
  return table
    .split('.')
    .map((part) => `"${part}"`)
    .join('.');
}

/** The table of an archive. It is created before its first use, and again after it was dropped. */
export class ArchiveTable {
  readonly #exists: string;
  #isThere = false;

  /** @param create the statement that creates it */
  constructor(
    private readonly connection: Connection,
    table: string,
    private readonly create: string,
  ) {
    this.#exists = `SELECT pg_catalog.to_regclass('${quotedTable(table)}'::pg_catalog.text) IS NOT NULL AS there`;
  }

  /** Runs a statement. @throws PostgresError; if the table was dropped, the next call creates it again */
  async query(text: string, values?: unknown[]): Promise<unknown[]> {
    const queries = await this.connection.queries();
    if (!this.#isThere) await this.#create(queries);
    this.#isThere = true;
    try {
      return (await queries.query(text, values)).rows;
    } catch (error) {
      if (isTableMissing(error)) this.#isThere = false;
      throw error;
    }
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  /** Checks first whether the table exists: without the right to create, CREATE fails even if it does. */
  async #create(queries: Queries): Promise<void> {
    if (await this.#isMade(queries)) return;
    await queries.query(this.create).catch(async (error: unknown) => {
      // If two nodes create the table at the same time, one may fail, but then the table exists.
      if (!(await this.#isMade(queries))) throw error;
    });
  }

  async #isMade(queries: Queries): Promise<boolean> {
    const { rows } = await queries.query(this.#exists);
    return (rows as { there: boolean }[])[0]!.there;
  }
}
