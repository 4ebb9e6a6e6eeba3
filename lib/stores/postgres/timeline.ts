import type { Deadline } from '../../core/async/deadline.js';
import { Failed, type PgError } from './failures.js';
import type { Server } from './server.js';

/**
 * SQL for the number of the server's timeline, 8 hexadecimal digits. Each promotion of a replica and each recovery to an
 * earlier point begins a new timeline. A restart and a crash don't.
 *
 * The name of a log file begins with the timeline in which the server writes now, whatever the position is. All users may
 * call the function. PostgreSQL computes it once per plan. A connection never sees a second timeline while it plans: on
 * a standby, the function fails. `pg_control_checkpoint()` would still show the old timeline right after a promotion.
 */
export const TIMELINE = `pg_catalog."left"(pg_catalog.pg_walfile_name('0/1000000'::pg_catalog.pg_lsn), 8)`;

/** The function does not exist, is not supported, or was taken away from this user. */
const LACKING: ReadonlySet<string | undefined> = new Set(['42883', '0A000', '42501']);

/** Whether this server tells its timeline. @throws Failed if the server does not answer, or is a standby */
export async function tellsTimeline(server: Server, deadline: Deadline): Promise<boolean> {
  try {
    await server.run({ text: `SELECT ${TIMELINE} AS timeline` }, [], deadline);
    return true;
  } catch (error) {
    if (error instanceof Failed && LACKING.has((error.cause as PgError).code)) return false;
    throw error;
  }
}
