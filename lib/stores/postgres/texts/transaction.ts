import { InvalidOptionsError, show } from '../../../core/decision/index.js';
import { StoreUnavailableError } from '../../../core/store/store.errors.js';
import type { TransactionCollection, WriteOptions } from '../../../core/store/driver.js';
import { type PgError, reasonOf } from '../failures.js';
import type { Queries, QueryRows } from '../pg.js';
import type { ChangeFeed } from '../hints/change-feed.js';
import type { Row } from '../server.js';
import { storedForm } from '../stored-text.js';
import type { Tables } from '../tables.js';
import { textOf } from './table-texts.js';
import { type TextStatements, changeOf, hintValuesOf, valuesOf, withHint } from './text-statements.js';

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
  /** Of the table of tasks. See `statementsInTransaction`. */
  readonly sql: TextStatements;
  readonly feed: Pick<ChangeFeed, 'noticeOf'>;
}

/** Writes tasks over the connection of a transaction of the application. Its time limits are those of the connection. */
export class PostgresTransaction implements TransactionCollection {
  readonly #connection: Queries;
  /** Whether the server has shown that there is a transaction. */
  #isProven = false;

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
    const [row] = await this.#run(this.needs.sql.read.text, [storedForm(key)]);
    return row && textOf(row);
  }

  /** How long it waits for held rows, and whether its commit waits for the disk, is up to the application. */
  async compareAndSet(
    key: string,
    expected: string | undefined,
    next: string | undefined,
    { hint }: WriteOptions = {},
  ): Promise<boolean> {
    await this.#expectTransaction();
    const write = { key, former: expected, next, hint };
    const change = changeOf(write);
    if (!change) return (await this.read(key)) === undefined;
    const [sql, values] = [this.needs.sql[change], valuesOf(write)];
    if (!hint) return (await this.#run(sql.text, values)).length > 0;
    const { tables, feed } = this.needs;
    // Sent with the commit; undefined if the takers of the queue poll.
    const notice = feed.noticeOf(hint.queue) ?? [];
    const [channel, payload] = [values.length + 3, values.length + 4];
    const notified = `, pg_catalog.pg_notify($${channel}::pg_catalog.text, $${payload}::pg_catalog.text)`;
    const { text } = withHint(change, tables.hints, sql, values.length, notice.length > 0 ? notified : '');
    return (await this.#run(text, [...values, ...hintValuesOf(write), ...notice])).length > 0;
  }

  /** The server refuses this lock outside a transaction. It is the one that a write to the table takes anyway. */
  async #expectTransaction(): Promise<void> {
    if (this.#isProven) return;
    await this.#run(`LOCK TABLE ${this.needs.tables.tasks} IN ROW EXCLUSIVE MODE`, []);
    this.#isProven = true;
  }

  async #run(sql: string, values: readonly (string | null)[]): Promise<Row[]> {
    const { rows } = (await this.#answer(sql, values)) ?? {};
    if (Array.isArray(rows)) return rows as Row[];
    throw new InvalidOptionsError('a task in a transaction', [NO_ROWS]);
  }

  async #answer(sql: string, values: readonly (string | null)[]): Promise<Partial<QueryRows> | undefined> {
    try {
      return await this.#connection.query(sql, [...values]);
    } catch (cause) {
      if ((cause as PgError).code === '25P01')
        throw new InvalidOptionsError('a task in a transaction', [NO_TRANSACTION]);
      const said = reasonOf(cause as PgError, ADVICE);
      throw new StoreUnavailableError(`the transaction can't take the task (${said}): roll it back`, { cause });
    }
  }
}
