import { ArchiveTable, quotedTable } from './archive-table.js';
import type { Connection } from './connection.js';
import type { ArchivedRun, HistoryArchive } from '../history-archive.js';

/** Rows that one statement removes: it takes some ms, so no other statement waits long for it. */
const STEP = 1000;

/** Runs in a table, one row each. The nodes of a cluster share the table. */
export class PostgresHistoryArchive implements HistoryArchive {
  readonly #sql: ReturnType<typeof statements>;
  readonly #rows: ArchiveTable;

  constructor(
    connection: Connection,
    table: string,
    /** ms */
    private readonly keep: number,
  ) {
    this.#sql = statements(table);
    this.#rows = new ArchiveTable(connection, table, this.#sql.create);
  }

  async append(entries: readonly ArchivedRun[]): Promise<void> {
    await this.#rows.query(this.#sql.append, [JSON.stringify(entries, readable)]);
  }

  async removeOld(now: number): Promise<boolean> {
    const [row] = await this.#rows.query(this.#sql.remove, [now - this.keep]);
    return (row as { removed: number }).removed === STEP;
  }

  close(): Promise<void> {
    return this.#rows.close();
  }
}

/** PostgreSQL stores neither NUL nor half a character, and would refuse the whole batch. */
function readable(_field: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/\0|\p{Surrogate}/gu, '\ufffd') : value;
}

function statements(table: string) {
  const quoted = quotedTable(table);
  const time = (ms: string) =>
    `pg_catalog.to_timestamp(${ms}::pg_catalog.float8 OPERATOR(pg_catalog./) 1000::pg_catalog.float8)`;
  const field = (name: string, of = 'run') => `${of} OPERATOR(pg_catalog.->>) '${name}'::pg_catalog.text`;
  const number = (name: string) => `(${field(name)})::pg_catalog.int8`;
  const node = `(run OPERATOR(pg_catalog.->) 'node'::pg_catalog.text)`;
  const endedAt = time(`(${number('at')} OPERATOR(pg_catalog.+) ${number('took')})`);
  return {
    // The time of the end comes first, so the key also finds the old rows.
    create: `CREATE TABLE IF NOT EXISTS ${quoted} (
      ended_at pg_catalog.timestamptz NOT NULL,
      id pg_catalog.text NOT NULL,
      semaphore pg_catalog.text NOT NULL,
      job pg_catalog.text NOT NULL,
      node pg_catalog.text NOT NULL,
      outcome pg_catalog.text NOT NULL,
      took pg_catalog.int8 NOT NULL,
      body pg_catalog.jsonb NOT NULL,
      PRIMARY KEY (ended_at, id)
    )`,
    // A batch whose outcome was unknown comes again.
    append: `INSERT INTO ${quoted} (ended_at, id, semaphore, job, node, outcome, took, body)
      SELECT ${endedAt}, ${field('id')}, ${field('semaphore')},
        ${field('job')}, ${field('acquirer', node)}, ${field('outcome')}, ${number('took')}, run
      FROM pg_catalog.jsonb_array_elements($1::pg_catalog.jsonb) AS run
      ON CONFLICT DO NOTHING`,
    // Rows that another node removes at this moment are skipped: no node waits for another one.
    remove: `WITH removed AS (
      DELETE FROM ${quoted} WHERE (ended_at, id) OPERATOR(pg_catalog.=) ANY (
        SELECT ended_at, id FROM ${quoted} WHERE ended_at OPERATOR(pg_catalog.<) ${time('$1')} ORDER BY ended_at LIMIT ${STEP} FOR UPDATE SKIP LOCKED
      ) RETURNING 1
    )
    SELECT pg_catalog.count(*)::pg_catalog.int4 AS removed FROM removed`,
  };
}
