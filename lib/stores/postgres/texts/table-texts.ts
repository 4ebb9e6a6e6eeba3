import { DOUBT } from '../../../core/decision/index.js';
import type {
  Notify,
  OrderedCollection,
  RecordPage,
  RecordCollection,
  TextEntry,
  TextCollection,
  WriteOptions,
} from '../../../core/store/driver.js';
import { HINT_KEY, type HintKeyPlace } from '../../../core/store/message-seals.js';
import type { Calls } from '../calls.js';
import type { Row } from '../server.js';
import { AFTER_ALL, storedForm, textOfStored } from '../stored-text.js';
import { type Examined, INDEXED, type Tables } from '../tables.js';
import { TIMELINE } from '../timeline.js';
import { TableWrites } from './table-writes.js';
import {
  CHANGES,
  type Change,
  PAGE,
  type TextRows,
  type TextStatements,
  changeOf,
  plainRows,
  statementsOf,
  writeFormsOf,
} from './text-statements.js';

/** Texts in a table, one row each. Writes that come together share statements. */
export class TableTexts implements TextCollection {
  protected sql!: TextStatements;
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
    this.sql = statementsOf(rows);
    const forms = writeFormsOf(rows);
    for (const change of CHANGES) this.#writes[change].use(forms[change]);
  }

  async read(key: string): Promise<string | undefined> {
    const [row] = await this.calls.read(this.sql.read, [storedForm(key)]);
    return row && textOf(row);
  }

  async readMany(keys: readonly string[]): Promise<Map<string, string>> {
    return textsOf(await this.calls.read(this.sql.readMany, [keys.map(storedForm)]));
  }

  compareAndSet(
    key: string,
    expected: string | undefined,
    next: string | undefined,
    { hint }: WriteOptions = {},
  ): Promise<boolean> {
    const write = { key, former: expected, next, hint };
    const change = changeOf(write);
    return change ? this.#writes[change].write(write) : this.read(key).then((found) => found === undefined);
  }
}

/** The tasks: texts in a table with an index of the beginnings of its texts. A hint goes along in the statement that writes. */
export class PostgresTasks extends TableTexts implements OrderedCollection {
  readonly #table: string;

  /** @param offered tells other clients that a queue has a new hint */
  constructor(
    calls: Calls,
    { tasks, hints }: Pick<Tables, 'tasks' | 'hints'>,
    private readonly offered: (queue: string) => void,
  ) {
    super(calls, plainRows(tasks, hints));
    this.#table = tasks;
  }

  override async compareAndSet(
    key: string,
    expected: string | undefined,
    next: string | undefined,
    options: WriteOptions = {},
  ): Promise<boolean> {
    const isWritten = await super.compareAndSet(key, expected, next, options);
    if (isWritten && options.hint) this.offered(options.hint.queue);
    return isWritten;
  }

  /**
   * The beginnings narrow the search to a part of the index, and the texts themselves decide. The statement has no name, so
   * that it is planned for its values: a plan that was made while the table was empty would read all of a large one.
   */
  async range(from: string, to: string, limit: number): Promise<TextEntry[]> {
    const start = `pg_catalog."left"(text, ${INDEXED})`;
    const text = `SELECT key, text FROM ${this.#table}
      WHERE ${start} OPERATOR(pg_catalog.>=) pg_catalog."left"($1::pg_catalog.text, ${INDEXED})
        AND ${start} OPERATOR(pg_catalog.<=) pg_catalog."left"($2::pg_catalog.text, ${INDEXED})
        AND text OPERATOR(pg_catalog.>=) $1::pg_catalog.text AND text OPERATOR(pg_catalog.<) $2::pg_catalog.text
      ORDER BY ${start}, text LIMIT $3::pg_catalog.int8`;
    const rows = await this.calls.read({ text }, [storedForm(from), storedForm(to), limit]);
    return rows.map((row) => ({ key: textOfStored(row['key'] as string), text: textOf(row) }));
  }
}

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

/**
 * Records in a table, one row each. Noted writes share statements with each other, and so do all others. The order of two
 * writes of one key with different notes is open, as that of any two that are under way: only one can find the text that both expect.
 */
export class PostgresRecords extends TableTexts implements RecordCollection {
  readonly #noted: TableTexts;

  /** @param announce tells other clients of a written text */
  constructor(
    calls: Calls,
    private readonly tables: Tables,
    private readonly announce: (key: string, text: string, notify: Notify) => void,
  ) {
    const rows = rowsWithTimeline(tables);
    super(calls, rows);
    this.#noted = new TableTexts(calls, notedRows(tables, rows));
  }

  /** Call this before the first statement. */
  use({ tellsTimeline }: Examined): void {
    const rows = tellsTimeline ? rowsWithTimeline(this.tables) : rowsWithoutTimeline(this.tables);
    this.useRows(rows);
    this.#noted.useRows(notedRows(this.tables, rows));
  }

  async page(prefix: string, after = ''): Promise<RecordPage> {
    const from = storedForm(prefix);
    const rows = await this.calls.read(this.sql.page, [from, after, from + AFTER_ALL]);
    const texts = textsOf(rows);
    return { texts, ...(rows.length === PAGE && { next: rows.at(-1)!['key'] as string }) };
  }

  /** Where the key of the hints' seals is kept. It is read before calls may be made. */
  get keyPlace(): HintKeyPlace {
    return {
      read: async () => (await this.calls.runAnyway(this.sql.read, [HINT_KEY])).map(textOf)[0],
      create: (key) => this.calls.runAnyway(this.sql.create, [HINT_KEY, key, String(this.calls.timeout)]),
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

export function textOf(row: Row): string {
  return textOfStored(row['text'] as string);
}

function textsOf(rows: Row[]): Map<string, string> {
  return new Map(rows.map((row) => [textOfStored(row['key'] as string), textOf(row)]));
}
