import { quotedTable } from '../../../archives/postgres/archive-table.js';

/** @param table name of the table, maybe with a schema */
export function statements(table: string) {
  const quoted = quotedTable(table);
  return {
    create: `CREATE TABLE IF NOT EXISTS ${quoted} (
      name pg_catalog.text NOT NULL,
      put_aside pg_catalog.text NOT NULL DEFAULT '',
      revision pg_catalog.int8 NOT NULL,
      version pg_catalog.int4 NOT NULL,
      body pg_catalog.jsonb NOT NULL,
      saved_at pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.now(),
      PRIMARY KEY (name, put_aside)
    )`,
    load: `SELECT name, version, body FROM ${quoted} WHERE put_aside OPERATOR(pg_catalog.=) ''::pg_catalog.text`,
    // Returns the rows that a newer version wrote, which stay unchanged. Writes in the order of names: two nodes that
    // save the same rows in different orders would block each other, and one of them would fail.
    save: `WITH given AS (
      SELECT name, revision, body FROM ROWS FROM (
        pg_catalog.unnest($1::pg_catalog.text[]), pg_catalog.unnest($2::pg_catalog.int8[]), pg_catalog.unnest($3::pg_catalog.jsonb[])
      ) AS each(name, revision, body)
    ), written AS (
      INSERT INTO ${quoted} AS kept (name, revision, version, body)
      SELECT name, revision, $4::pg_catalog.int4, body FROM given ORDER BY name
      ON CONFLICT (name, put_aside) DO UPDATE
        SET revision = excluded.revision, version = excluded.version, body = excluded.body, saved_at = pg_catalog.now()
        WHERE kept.version OPERATOR(pg_catalog.<=) excluded.version AND (
          kept.revision OPERATOR(pg_catalog.<) excluded.revision OR (
            kept.revision OPERATOR(pg_catalog.=) excluded.revision AND kept.body OPERATOR(pg_catalog.<>) excluded.body
          )
        )
    )
    SELECT kept.name, kept.version FROM ${quoted} AS kept, given WHERE kept.name OPERATOR(pg_catalog.=) given.name
      AND kept.put_aside OPERATOR(pg_catalog.=) ''::pg_catalog.text AND kept.version OPERATOR(pg_catalog.>) $4::pg_catalog.int4`,
    // Only if the row is still as it was read: a person may have repaired it since.
    putAside: `UPDATE ${quoted} SET put_aside = pg_catalog.now()::pg_catalog.text WHERE name OPERATOR(pg_catalog.=) $1::pg_catalog.text
      AND put_aside OPERATOR(pg_catalog.=) ''::pg_catalog.text AND body OPERATOR(pg_catalog.=) $2::pg_catalog.jsonb`,
  };
}
