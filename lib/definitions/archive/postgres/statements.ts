import { quotedTable } from '../../../archives/postgres/archive-table.js';

/** @param table name of the table, maybe with a schema */
export function statements(table: string) {
  const quoted = quotedTable(table);
  return {
    create: `CREATE TABLE IF NOT EXISTS ${quoted} (
      name text NOT NULL,
      put_aside text NOT NULL DEFAULT '',
      revision bigint NOT NULL,
      version integer NOT NULL,
      body jsonb NOT NULL,
      saved_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (name, put_aside)
    )`,
    load: `SELECT name, version, body FROM ${quoted} WHERE put_aside = ''`,
    // Returns the rows that a newer version wrote, which stay unchanged. Writes in the order of names: two nodes that
    // save the same rows in different orders would block each other, and one of them would fail.
    save: `WITH given AS (
      SELECT * FROM unnest($1::text[], $2::bigint[], $3::jsonb[]) AS each(name, revision, body)
    ), written AS (
      INSERT INTO ${quoted} AS kept (name, revision, version, body)
      SELECT name, revision, $4::integer, body FROM given ORDER BY name
      ON CONFLICT (name, put_aside) DO UPDATE
        SET revision = excluded.revision, version = excluded.version, body = excluded.body, saved_at = now()
        WHERE kept.version <= excluded.version AND (
          kept.revision < excluded.revision OR (kept.revision = excluded.revision AND kept.body <> excluded.body)
        )
    )
    SELECT name, version FROM ${quoted} JOIN given USING (name) WHERE put_aside = '' AND version > $4::integer`,
    // Only if the row is still as it was read: a person may have repaired it since.
    putAside: `UPDATE ${quoted} SET put_aside = now()::text WHERE name = $1 AND put_aside = '' AND body = $2::jsonb`,
  };
}
