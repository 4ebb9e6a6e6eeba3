import { HINT_KEY, type HintKeyPlace } from '../../core/store/hint-seals.js';
import { allPages } from '../../core/store/paging.js';
import { StoreUnavailableError } from '../../core/store/store.errors.js';
import type { ClockReading, RecordPage } from '../../core/store/store.js';
import type { Calls } from './calls.js';
import type { Examined } from './examine.js';
import { CLOCK, PAGE, recordStatements } from './record-statements.js';
import type { Row, Statement } from './server.js';
import { AFTER_ALL, storedForm, textOfStored } from './stored-text.js';
import type { Tables } from './tables.js';

/** Records in a table, one row each. */
export class PostgresRecords {
  #sql: ReturnType<typeof recordStatements>;

  constructor(
    private readonly calls: Calls,
    private readonly tables: Tables,
  ) {
    this.#sql = recordStatements(tables, true);
  }

  /** Call this before the first statement. */
  use({ tellsTimeline }: Examined): void {
    this.#sql = recordStatements(this.tables, tellsTimeline);
  }

  async read(key: string): Promise<string | undefined> {
    const [row] = await this.calls.reading(this.#sql.read, [storedForm(key)]);
    return row && textOf(row);
  }

  /** @param isNoted whether clients that poll find this write */
  async compareAndSet(key: string, expected: string | undefined, next: string, isNoted: boolean): Promise<boolean> {
    const rows =
      expected === undefined
        ? await this.#write(isNoted ? this.#sql.createNoted : this.#sql.create, [key, next])
        : await this.#write(isNoted ? this.#sql.replaceNoted : this.#sql.replace, [key, expected, next]);
    return rows.length > 0;
  }

  async page(prefix: string, after = ''): Promise<RecordPage> {
    const from = storedForm(prefix);
    const rows = await this.calls.reading(this.#sql.page, [from, after, from + AFTER_ALL]);
    const texts = textsOf(rows);
    return { texts, ...(rows.length === PAGE && { next: rows.at(-1)!['key'] as string }) };
  }

  list(prefix: string): Promise<Map<string, string>> {
    return allPages((after) => this.page(prefix, after));
  }

  async readMany(keys: readonly string[]): Promise<Map<string, string>> {
    return textsOf(await this.calls.reading(this.#sql.readMany, [keys.map(storedForm)]));
  }

  /** @throws StoreUnavailableError also for a standby, whose records may be old */
  async now(): Promise<ClockReading> {
    const [row] = await this.calls.readingAtOnce(CLOCK, []);
    const { time, started, standby } = row as { time: number; started: string; standby: boolean };
    if (standby) throw new StoreUnavailableError('This PostgreSQL server is a standby: connect to the primary');
    return { time, member: `postgres-${started}` };
  }

  /** @param run runs a statement: the key is read before calls may be made */
  keyPlace(run: (statement: Statement, values: unknown[]) => Promise<Row[]>): HintKeyPlace {
    return {
      read: async () => (await run(this.#sql.read, [HINT_KEY])).map(textOf)[0],
      create: (key) => run(this.#sql.create, [HINT_KEY, key]),
    };
  }

  #write(statement: Statement, texts: string[]): Promise<Row[]> {
    return this.calls.writing(statement, texts.map(storedForm));
  }
}

export function textOf(row: Row): string {
  return textOfStored(row['text'] as string);
}

export function textsOf(rows: Row[]): Map<string, string> {
  return new Map(rows.map((row) => [textOfStored(row['key'] as string), textOf(row)]));
}
