import { DOUBT } from '../../../core/decision/index.js';
import type { Notify, RecordPage, RecordTexts, WriteOptions } from '../../../core/store/driver.js';
import type { TextWrite } from '../../../core/store/gathered-writes.js';
import { HINT_KEY, type HintKeyPlace } from '../../../core/store/hint-seals.js';
import type { Calls } from '../calls.js';
import type { Examined } from '../examine.js';
import type { ChangeFeed } from '../hints/change-feed.js';
import type { Row, Statement } from '../server.js';
import { AFTER_ALL, storedForm } from '../stored-text.js';
import type { Tables } from '../tables.js';
import { TIMELINE } from '../timeline.js';
import { RowTexts, textOf, textsOf } from './table-texts.js';
import { type Change, type TextRows, named, readStatements, valuesOf, writesOfOne } from './text-statements.js';

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

function recordStatements(tables: Tables, { tellsTimeline }: Examined) {
  const rows = tellsTimeline ? rowsWithTimeline(tables) : rowsWithoutTimeline(tables);
  const manner = { isDurable: true, isLimited: false };
  return {
    ...readStatements(rows),
    page: named(`SELECT key, ${rows.seen} AS text FROM ${rows.table} WHERE key OPERATOR(pg_catalog.>=) $1::pg_catalog.text
        AND key OPERATOR(pg_catalog.>) $2::pg_catalog.text AND key OPERATOR(pg_catalog.<) $3::pg_catalog.text
        ORDER BY key LIMIT ${PAGE}`),
    writes: writesOfOne(rows, manner),
    notedWrites: writesOfOne(notedRows(tables, rows), manner),
  };
}

/** Records in a table, one row each. */
export class PostgresRecords extends RowTexts implements RecordTexts {
  protected sql: ReturnType<typeof recordStatements>;

  /** @param announce tells other clients of a written text */
  constructor(
    calls: Calls,
    private readonly tables: Tables,
    private readonly announce: ChangeFeed['announce'],
  ) {
    super(calls);
    this.sql = recordStatements(tables, { tellsTimeline: true });
  }

  /** Call this before the first statement. */
  use(examined: Examined): void {
    this.sql = recordStatements(this.tables, examined);
  }

  async page(prefix: string, after = ''): Promise<RecordPage> {
    const from = storedForm(prefix);
    const rows = await this.calls.reading(this.sql.page, [from, after, from + AFTER_ALL]);
    const texts = textsOf(rows);
    return { texts, ...(rows.length === PAGE && { next: rows.at(-1)!['key'] as string }) };
  }

  /** @param run runs a statement: the key is read before calls may be made */
  keyPlace(run: (statement: Statement, values: unknown[]) => Promise<Row[]>): HintKeyPlace {
    return {
      read: async () => (await run(this.sql.read, [HINT_KEY])).map(textOf)[0],
      create: (key) => run(this.sql.writes.create, [HINT_KEY, key]),
    };
  }

  protected async write(change: Change, write: TextWrite, { notify = 'all' }: WriteOptions = {}): Promise<boolean> {
    const rows = await this.calls.writing(this.#writesFor(notify)[change], valuesOf(write));
    if (rows.length === 0) return false;
    this.announce(write.key, write.next!, notify); // a record is never removed
    return true;
  }

  /** Clients that poll look for edits only at their numbers. They read the records for which they wait. */
  #writesFor(notify: Notify) {
    return notify === 'all' ? this.sql.notedWrites : this.sql.writes;
  }
}
