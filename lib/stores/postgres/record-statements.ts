import type { Statement } from './server.js';
import type { Tables } from './tables.js';

/**
 * Evaluated for each written row: turns on the wait for the disk, for this transaction only, if the session has turned it
 * off. Otherwise a crash of the server could lose a write that it acknowledged.
 */
export const DURABLE = `CASE WHEN current_setting('synchronous_commit') = 'off'
  THEN set_config('synchronous_commit', 'on', true) END AS durable`;

/** Records on one page. */
export const PAGE = 500;

/** The statements for records. One statement compares and writes. */
export function recordStatements({ schema, records, notes }: Tables) {
  const named = (name: string, text: string): Statement => ({ name: `gatekeeper.${schema}.${name}`, text });
  const noted = `nextval('${notes}')`;
  return {
    read: named('read', `SELECT text FROM ${records} WHERE key = $1`),
    readMany: named('readMany', `SELECT key, text FROM ${records} WHERE key = ANY($1::text[])`),
    page: named(
      'page',
      `SELECT key, text FROM ${records} WHERE key >= $1 AND key > $2 AND key < $3 ORDER BY key LIMIT ${PAGE}`,
    ),
    create: named(
      'create',
      `INSERT INTO ${records} (key, text) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING ${DURABLE}`,
    ),
    createNoted: named(
      'createNoted',
      `INSERT INTO ${records} (key, text, noted) VALUES ($1, $2, ${noted}) ON CONFLICT DO NOTHING RETURNING ${DURABLE}`,
    ),
    replace: named('replace', `UPDATE ${records} SET text = $3 WHERE key = $1 AND text = $2 RETURNING ${DURABLE}`),
    replaceNoted: named(
      'replaceNoted',
      `UPDATE ${records} SET text = $3, noted = ${noted} WHERE key = $1 AND text = $2 RETURNING ${DURABLE}`,
    ),
  };
}

/**
 * The server's clock, and a name that tells servers apart: the start of the server process, in µs. After a failover another
 * server answers, whose clock is another one. A restarted server gets a new name, too.
 */
export const CLOCK: Statement = {
  name: 'gatekeeper.clock',
  text: `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS time,
    (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint::text AS started, pg_is_in_recovery() AS standby`,
};
