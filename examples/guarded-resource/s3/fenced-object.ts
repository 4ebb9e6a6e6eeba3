import { type PermitToken, StaleTokenError } from '../permit-token.js';

/** Where the token stands: metadata of the object that it guards, so that body and token change in one step. */
const TOKEN = 'x-amz-meta-fence';
/** As S3 tells of a write that another one came before: 412, or 409 when both came at once. */
const LOST_THE_RACE = new Set([409, 412]);
/** Each round that is lost means that another writer was faster. */
const MOST_ROUNDS = 20;

// #region write
/**
 * Writes an object in the name of a permit. An object belongs to one semaphore and slot.
 *
 * Read, check, put. Between the check and the put anything may happen: so the put is on condition that the object is
 * still the one whose token was checked (`If-Match`, or `If-None-Match: *` when there was none). When it is not, all
 * begins again with the new token, which now may be higher than ours.
 *
 * @param url of the object, signed as the store wants it
 * @throws StaleTokenError when a newer permit has written
 */
export async function putFenced(url: string, body: string, permit: PermitToken): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const found = await fetch(url, { method: 'HEAD' });
    if (!found.ok && found.status !== 404) throw new Error(`${url} answered ${found.status}`);
    if (Number(found.headers.get(TOKEN)) > permit.token) throw new StaleTokenError(permit);
    const condition: Record<string, string> = found.ok
      ? { 'if-match': found.headers.get('etag')! }
      : { 'if-none-match': '*' };
    const headers = { ...condition, [TOKEN]: String(permit.token) };
    const put = await fetch(url, { method: 'PUT', body, headers });
    if (put.ok) return;
    // 404: it was there when we looked, and was deleted since.
    if (!LOST_THE_RACE.has(put.status) && put.status !== 404) throw new Error(`${url} answered ${put.status}`);
  }
  throw new Error(`${url}: ${MOST_ROUNDS} times another writer came first; try again`);
}
// #endregion
