import { randomUUID } from 'node:crypto';

/** A pool or a client of pg. */
interface Database {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
}

interface ShedLockOptions {
  /** The name in `@SchedulerLock`. */
  readonly name: string;
  /** Seconds; longer than the work takes. */
  readonly atMostFor: number;
  /** Seconds. Default 0. */
  readonly atLeastFor?: number;
}

const now = `timezone('utc', CURRENT_TIMESTAMP)`;
const TAKE = `
  INSERT INTO shedlock (name, lock_until, locked_at, locked_by)
  VALUES ($1, ${now} + make_interval(secs => $3), ${now}, $2)
  ON CONFLICT (name) DO UPDATE
  SET lock_until = excluded.lock_until, locked_at = excluded.locked_at, locked_by = excluded.locked_by
  WHERE shedlock.lock_until <= ${now}
  RETURNING name`;
const GIVE_BACK = `
  UPDATE shedlock SET lock_until = greatest(${now}, locked_at + make_interval(secs => $3))
  WHERE name = $1 AND locked_by = $2`;

/**
 * Runs `work` if no program with ShedLock holds the lock, and holds it meanwhile.
 *
 * @param work gets a signal that aborts before the lock ends
 * @returns the value of `work`, or undefined if the lock is held
 */
export async function underShedLock<T>(
  database: Database,
  { name, atMostFor, atLeastFor = 0 }: ShedLockOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  // Not the host's name, as in ShedLock: of two processes on one host, one could give back the lock of the other.
  const by = randomUUID();
  // Counted from before the request, and a tenth shorter, so that work can stop before the lock ends.
  const signal = AbortSignal.timeout(Math.floor(atMostFor * 900));
  const { rows } = await database.query(TAKE, [name, by, atMostFor]);
  if (rows.length === 0) return undefined;
  try {
    return await work(signal);
  } finally {
    await database.query(GIVE_BACK, [name, by, atLeastFor]);
  }
}
