import type { IncomingHttpHeaders } from 'node:http';
import { isSameHost } from './request-hosts.js';

/**
 * Whether a request comes from the console's own page, from no page at all, or from an allowed one. A browser shows
 * it by headers that no page can forge. Without this check a page of another site could use the cookies that the browser
 * sends, or an insecure console that the browser can reach.
 *
 * @param hosts of the request; where a proxy changes Host, those that it was asked for, too
 */
export function isFromHere(
  headers: IncomingHttpHeaders,
  hosts: readonly string[],
  allowedOrigins: readonly string[],
): boolean {
  const { origin } = headers;
  if (origin !== undefined && allowedOrigins.includes(origin)) return true;
  if (headers['sec-fetch-site'] === 'cross-site') return false;
  return origin === undefined || (URL.canParse(origin) && isSameHost(new URL(origin), hosts));
}
