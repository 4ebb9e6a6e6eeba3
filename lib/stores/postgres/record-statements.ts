import { DOUBT } from '../../decision/index.js';
import type { Statement } from './server.js';
import type { Tables } from './tables.js';
import { TIMELINE } from './timeline.js';

/**
 * Evaluated for each written row: turns on the wait for the disk, for this transaction only, if the session has turned it
 * off. Otherwise a crash of the server could lose a write that it acknowledged.
 */
export const DURABLE = `CASE WHEN current_setting('synchronous_commit') = 'off'
  THEN set_config('synchronous_commit', 'on', true) END AS durable`;

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
  const seen = `CASE WHEN origin = ${TIMELINE} THEN text ELSE '${DOUBT}' || text END`;
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
  const noted = `nextval('${notes}')`;
  return {
    read: named('read', `SELECT ${seen} AS text FROM ${records} WHERE key = $1`),
    readMany: named('readMany', `SELECT key, ${seen} AS text FROM ${records} WHERE key = ANY($1::text[])`),
    page: named(
      'page',
      `SELECT key, ${seen} AS text FROM ${records} WHERE key >= $1 AND key > $2 AND key < $3 ORDER BY key LIMIT ${PAGE}`,
    ),
    create: named(
      'create',
      `INSERT INTO ${records} (key, text, origin) VALUES ($1, $2, ${origin}) ON CONFLICT DO NOTHING RETURNING ${DURABLE}`,
    ),
    createNoted: named(
      'createNoted',
      `INSERT INTO ${records} (key, text, noted, origin) VALUES ($1, $2, ${noted}, ${origin}) ON CONFLICT DO NOTHING RETURNING ${DURABLE}`,
    ),
    replace: named(
      'replace',
      `UPDATE ${records} SET text = $3${renewed} WHERE key = $1 AND ${seen} = $2 RETURNING ${DURABLE}`,
    ),
    replaceNoted: named(
      'replaceNoted',
      `UPDATE ${records} SET text = $3, noted = ${noted}${renewed} WHERE key = $1 AND ${seen} = $2 RETURNING ${DURABLE}`,
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
