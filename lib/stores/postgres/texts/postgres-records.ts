import { DOUBT } from '../../../core/decision/index.js';
import type { Notify, RecordPage, RecordTexts, WriteOptions } from '../../../core/store/driver.js';
import { HINT_KEY, type HintKeyPlace } from '../../../core/store/hint-seals.js';
import type { Calls } from '../calls.js';
import type { Examined } from '../examine.js';
import { AFTER_ALL, storedForm } from '../stored-text.js';
import type { Tables } from '../tables.js';
import { TIMELINE } from '../timeline.js';
import { TableTexts, textOf, textsOf } from './table-texts.js';
import { type TextRows, named, writesOfOne } from './text-statements.js';

/** Records on one page. */
const PAGE = 500;

/**
 * The rows of records. A replica that takes over may lack the newest writes, and its rows don't show that. But it begins a
 * new timeline. So each row keeps the timeline in which it was written. A text of another timeline, or of an unknown one, is
 * seen as doubted, in reads and in comparisons alike. So no write follows from a text that was read before the promotion,
 * and nothing must be marked: the next write of the row makes it certain again.
 */
const rowsWithTimeline = ({ records: table }: Tables): TextRows => ({
  table,
  seen: `CASE WHEN origin OPERATOR(pg_catalog.=) ${TIMELINE} THEN text
  ELSE '${DOUBT}'::pg_catalog.text OPERATOR(pg_catalog.||) text END`,
  created: { origin: TIMELINE },
  replaced: { origin: TIMELINE },
});

/** For servers that don't tell their timeline. Rows that they update keep their origin, if another user wrote one. */
const rowsWithoutTimeline = ({ records: table }: Tables): TextRows => ({
  table,
  seen: 'text',
  created: { origin: 'NULL' },
  replaced: {},
});

/** The rows of writes that get a number, by which clients that poll find them. */
function notedRows({ notes }: Tables, { created, replaced, ...rows }: TextRows): TextRows {
  const noted = `pg_catalog.nextval('${notes}'::pg_catalog.regclass)`;
  return { ...rows, created: { ...created, noted }, replaced: { ...replaced, noted } };
}

/** Beside those that all tables with texts have. */
function otherStatements(rows: TextRows) {
  const { table, seen } = rows;
  return {
    page: named(`SELECT key, ${seen} AS text FROM ${table} WHERE key OPERATOR(pg_catalog.>=) $1::pg_catalog.text
        AND key OPERATOR(pg_catalog.>) $2::pg_catalog.text AND key OPERATOR(pg_catalog.<) $3::pg_catalog.text
        ORDER BY key LIMIT ${PAGE}`),
    createHintKey: writesOfOne(rows, { isDurable: true, isLimited: false }).create,
  };
}

/**
 * Records in a table, one row each. Noted writes share statements with each other, and so do all others. The order of two
 * writes of one key with different notes is open, as that of any two that are under way: only one can find the text that both expect.
 */
export class PostgresRecords extends TableTexts implements RecordTexts {
  readonly #noted: TableTexts;
  #sql: ReturnType<typeof otherStatements>;

  /** @param announce tells other clients of a written text */
  constructor(
    calls: Calls,
    private readonly tables: Tables,
    private readonly announce: (key: string, text: string, notify: Notify) => void,
  ) {
    const rows = rowsWithTimeline(tables);
    super(calls, rows);
    this.#noted = new TableTexts(calls, notedRows(tables, rows));
    this.#sql = otherStatements(rows);
  }

  /** Call this before the first statement. */
  use({ tellsTimeline }: Examined): void {
    const rows = tellsTimeline ? rowsWithTimeline(this.tables) : rowsWithoutTimeline(this.tables);
    this.useRows(rows);
    this.#noted.useRows(notedRows(this.tables, rows));
    this.#sql = otherStatements(rows);
  }

  async page(prefix: string, after = ''): Promise<RecordPage> {
    const from = storedForm(prefix);
    const rows = await this.calls.read(this.#sql.page, [from, after, from + AFTER_ALL]);
    const texts = textsOf(rows);
    return { texts, ...(rows.length === PAGE && { next: rows.at(-1)!['key'] as string }) };
  }

  /** Where the key of the hints' seals is kept. It is read before calls may be made. */
  get keyPlace(): HintKeyPlace {
    return {
      read: async () => (await this.calls.runAnyway(this.sql.read, [HINT_KEY])).map(textOf)[0],
      create: (key) => this.calls.runAnyway(this.#sql.createHintKey, [HINT_KEY, key]),
    };
  }

  /**
   * Without a connection it fails at once, also right after the start: a write of a record follows a read, which has waited
   * for the connection.
   */
  override async compareAndSet(
    key: string,
    expected: string | undefined,
    next: string,
    { notify = 'all' }: WriteOptions = {},
  ): Promise<boolean> {
    this.calls.assertOpen();
    // Clients that poll look for edits only at their numbers. They read the records for which they wait.
    const isWritten = await (notify === 'all'
      ? this.#noted.compareAndSet(key, expected, next)
      : super.compareAndSet(key, expected, next));
    if (isWritten) this.announce(key, next, notify);
    return isWritten;
  }
}
