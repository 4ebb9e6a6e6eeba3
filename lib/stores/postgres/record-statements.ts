import { DOUBT } from '../../core/decision/index.js';
import type { Statement } from './server.js';
import type { Tables } from './tables.js';
import { TIMELINE } from './timeline.js';

/**
 * Evaluated for each written row: turns on the wait for the disk, for this transaction only, if the session has turned it
 * off. Otherwise a crash of the server could lose a write that it acknowledged.
 */
export const DURABLE = `CASE WHEN pg_catalog.current_setting('synchronous_commit') OPERATOR(pg_catalog.=) 'off'::pg_catalog.text
  THEN pg_catalog.set_config('synchronous_commit', 'on', true) END AS durable`;

/** Records on one page. */
export const PAGE = 500;

/**
 * The statements for records. One statement compares and writes.
 *
 * A replica that takes over may lack the newest writes, and its rows don't show that. But it begins a new timeline. So
 * each row keeps the timeline in which it was written. A text of another timeline, or of an unknown one, is seen as
 * doubted, in reads and in comparisons alike. So no write follows from a text that was read before the promotion, and
 * nothing must be marked: the next write of the row makes it certain again.
 */
function timelineStatements(tables: Tables) {
  const seen = `CASE WHEN origin OPERATOR(pg_catalog.=) ${TIMELINE} THEN text
  ELSE '${DOUBT}'::pg_catalog.text OPERATOR(pg_catalog.||) text END`;
  return statements(tables, { seen, origin: TIMELINE, renewed: `, origin = ${TIMELINE}`, suffix: '' });
}

/** For servers that don't tell their timeline. Rows that they update keep their origin, if another user wrote one. */
function plainStatements(tables: Tables) {
  return statements(tables, { seen: 'text', origin: 'NULL', renewed: '', suffix: '.plain' });
}

export const recordStatements = (tables: Tables, tellsTimeline: boolean): ReturnType<typeof statements> =>
  tellsTimeline ? timelineStatements(tables) : plainStatements(tables);

interface Forms {
  /** The text as readers see it. */
  readonly seen: string;
  /** The origin of a new row. */
  readonly origin: string;
  /** Ends the list of changes. */
  readonly renewed: string;
  /** Two statements of one name must have the same text. */
  readonly suffix: string;
}

function statements({ schema, records, notes }: Tables, { seen, origin, renewed, suffix }: Forms) {
  const named = (name: string, text: string): Statement => ({ name: `gatekeeper.${schema}.${name}${suffix}`, text });
  const noted = `pg_catalog.nextval('${notes}'::pg_catalog.regclass)`;
  return {
    read: named('read', `SELECT ${seen} AS text FROM ${records} WHERE key OPERATOR(pg_catalog.=) $1::pg_catalog.text`),
    readMany: named(
      'readMany',
      `SELECT key, ${seen} AS text FROM ${records} WHERE key OPERATOR(pg_catalog.=) ANY($1::pg_catalog.text[])`,
    ),
    page: named(
      'page',
      `SELECT key, ${seen} AS text FROM ${records} WHERE key OPERATOR(pg_catalog.>=) $1::pg_catalog.text
        AND key OPERATOR(pg_catalog.>) $2::pg_catalog.text AND key OPERATOR(pg_catalog.<) $3::pg_catalog.text
        ORDER BY key LIMIT ${PAGE}`,
    ),
    create: named(
      'create',
      `INSERT INTO ${records} (key, text, origin) VALUES ($1::pg_catalog.text, $2::pg_catalog.text, ${origin}) ON CONFLICT DO NOTHING RETURNING ${DURABLE}`,
    ),
    createNoted: named(
      'createNoted',
      `INSERT INTO ${records} (key, text, noted, origin) VALUES ($1::pg_catalog.text, $2::pg_catalog.text, ${noted}, ${origin}) ON CONFLICT DO NOTHING RETURNING ${DURABLE}`,
    ),
    replace: named(
      'replace',
      `UPDATE ${records} SET text = $3::pg_catalog.text${renewed} WHERE key OPERATOR(pg_catalog.=) $1::pg_catalog.text
        AND ${seen} OPERATOR(pg_catalog.=) $2::pg_catalog.text RETURNING ${DURABLE}`,
    ),
    replaceNoted: named(
      'replaceNoted',
      `UPDATE ${records} SET text = $3::pg_catalog.text, noted = ${noted}${renewed} WHERE key OPERATOR(pg_catalog.=) $1::pg_catalog.text
        AND ${seen} OPERATOR(pg_catalog.=) $2::pg_catalog.text RETURNING ${DURABLE}`,
    ),
  };
}

/**
 * The server's clock, and a name that tells servers apart: the start of the server process, in µs. After a failover another
 * server answers, whose clock is another one. A restarted server gets a new name, too.
 */
export const CLOCK: Statement = {
  name: 'gatekeeper.clock',
  text: `SELECT (extract(epoch FROM pg_catalog.clock_timestamp())::pg_catalog.numeric
      OPERATOR(pg_catalog.*) 1000::pg_catalog.numeric)::pg_catalog.float8 AS time,
    (extract(epoch FROM pg_catalog.pg_postmaster_start_time())::pg_catalog.numeric
      OPERATOR(pg_catalog.*) 1000000::pg_catalog.numeric)::pg_catalog.int8::pg_catalog.text AS started,
    pg_catalog.pg_is_in_recovery() AS standby`,
};
