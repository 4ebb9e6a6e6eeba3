import { InvalidOptionsError, show } from '../../../core/decision/index.js';
import { StoreUnavailableError } from '../../../core/store/store.errors.js';
import type { TransactionTexts } from '../../../core/store/task-storage.js';
import { type PgError, reasonOf } from '../reasons.js';
import type { Queries, QueryRows } from '../pg.js';
import type { Row } from '../server.js';
import { storedForm, textOfStored } from '../stored-text.js';
import type { Tables } from '../tables.js';
import { createOrFind } from './table-texts.js';

const NO_TRANSACTION =
  'tx: it is in no transaction. Call BEGIN first, and give the connection of that transaction, not a pool';

const NO_ROWS =
  'tx: its query(text, values) does not return { rows }, as a connection of pg does. Give an object whose method does';

const WRONG_DATABASE =
  "the transaction is in a database without the store's tables: take the connection from the store's database";

const ADVICE: Readonly<Record<string, string>> = {
  '3F000': WRONG_DATABASE,
  '42P01': WRONG_DATABASE,
  '42501': "the transaction's user needs the rights that docs/stores.md lists under 'Tables'",
  '40001': 'another transaction came first: roll back and begin it again',
  '40P01': 'another transaction came first: roll back and begin it again',
};

interface Needs {
  readonly tables: Tables;
  /** A notification for the takers of a queue, sent with the commit; undefined if they poll. */
  readonly noticeOf: (queue: string) => readonly [channel: string, payload: string] | undefined;
}

/** Writes tasks over the connection of a transaction of the application. Its time limits are those of the connection. */
export class PostgresTransaction implements TransactionTexts {
  readonly #connection: Queries;

  /** @throws InvalidOptionsError */
  constructor(
    transaction: unknown,
    private readonly needs: Needs,
  ) {
    if (typeof (transaction as Partial<Queries> | null)?.query !== 'function') {
      const what = `tx: ${show(transaction)} has no method query(text, values) that returns { rows }`;
      throw new InvalidOptionsError('a task in a transaction', [what]);
    }
    this.#connection = transaction as Queries;
  }

  async read(key: string): Promise<string | undefined> {
    const { tasks } = this.needs.tables;
    const [row] = await this.#run(`SELECT text FROM ${tasks} WHERE key OPERATOR(pg_catalog.=) $1::pg_catalog.text`, [
      storedForm(key),
    ]);
    return row && textOfStored(row['text'] as string);
  }

  async create(key: string, text: string): Promise<string | undefined> {
    const { tasks } = this.needs.tables;
    const sql = `INSERT INTO ${tasks} VALUES ($1::pg_catalog.text, $2::pg_catalog.text) ON CONFLICT DO NOTHING RETURNING 1 AS written`;
    await this.#expectTransaction();
    const created = async () => (await this.#run(sql, [key, text].map(storedForm))).length > 0;
    return createOrFind(key, created, () => this.read(key));
  }

  async replace(key: string, expected: string, next: string): Promise<boolean> {
    const { tasks } = this.needs.tables;
    const sql = `UPDATE ${tasks} SET text = $3::pg_catalog.text WHERE key OPERATOR(pg_catalog.=) $1::pg_catalog.text
      AND text OPERATOR(pg_catalog.=) $2::pg_catalog.text RETURNING 1 AS written`;
    return (await this.#run(sql, [key, expected, next].map(storedForm))).length > 0;
  }

  async offer(queue: string, hint: string): Promise<void> {
    const { tables, noticeOf } = this.needs;
    const offered = `INSERT INTO ${tables.hints} (queue, hint) VALUES ($1::pg_catalog.text, $2::pg_catalog.text)`;
    const values = [queue, hint].map(storedForm);
    const notice = noticeOf(queue);
    if (notice)
      await this.#run(
        `WITH offered AS (${offered}) SELECT pg_catalog.pg_notify($3::pg_catalog.text, $4::pg_catalog.text)`,
        [...values, ...notice],
      );
    else await this.#run(offered, values);
  }

  /** The server refuses this lock outside a transaction. It is the one that a write to the table takes anyway. */
  async #expectTransaction(): Promise<void> {
    await this.#run(`LOCK TABLE ${this.needs.tables.tasks} IN ROW EXCLUSIVE MODE`, []);
  }

  async #run(sql: string, values: string[]): Promise<Row[]> {
    const { rows } = (await this.#answer(sql, values)) ?? {};
    if (Array.isArray(rows)) return rows as Row[];
    throw new InvalidOptionsError('a task in a transaction', [NO_ROWS]);
  }

  async #answer(sql: string, values: string[]): Promise<Partial<QueryRows> | undefined> {
    try {
      return await this.#connection.query(sql, values);
    } catch (cause) {
      if ((cause as PgError).code === '25P01')
        throw new InvalidOptionsError('a task in a transaction', [NO_TRANSACTION]);
      const said = reasonOf(cause as PgError, ADVICE);
      throw new StoreUnavailableError(`the transaction can't take the task (${said}): roll it back`, { cause });
    }
  }
}
