import { type PermitToken, StaleTokenError } from '../permit-token.js';

/** A transaction, as pg's client, PGlite and their like have it. */
export interface Transaction {
  query<Row>(statement: string, values: unknown[]): Promise<{ rows: Row[] }>;
}

/** Something that opens transactions and rolls them back when the work throws, as PGlite or a few lines around pg do. */
export interface Database<Tx extends Transaction> {
  transaction<T>(work: (transaction: Tx) => Promise<T>): Promise<T>;
}

// #region write
const CLAIM = `
  INSERT INTO fence AS known (semaphore, slot, token) VALUES ($1, $2, $3)
  ON CONFLICT (semaphore, slot) DO UPDATE SET token = excluded.token WHERE known.token <= excluded.token
  RETURNING token`;

/**
 * Writes in the name of a permit. The first statement locks the fence's row until the commit: a newer permit's write
 * waits for this one, and this one is refused when a newer one was there before.
 *
 * @throws StaleTokenError and rolls back: nothing of `work` is ever seen
 */
export function fenced<Tx extends Transaction, T>(
  database: Database<Tx>,
  permit: PermitToken,
  work: (transaction: Tx) => Promise<T>,
): Promise<T> {
  return database.transaction(async (transaction) => {
    const { semaphore, slot, token } = permit;
    const { rows } = await transaction.query(CLAIM, [semaphore, slot, token]);
    if (rows.length === 0) throw new StaleTokenError(permit);
    return work(transaction);
  });
}
// #endregion
