import type { IncomingHttpHeaders } from 'node:http';
import { isSameHost } from './request-hosts.js';

/**
 * Whether a request comes from the console's own page, from no page at all, or from an allowed one. A browser tells by
 * headers that no page can forge; without this check a page elsewhere could use what the browser sends by itself
 * (cookies that a host's guard reads, or an insecure console in the reach of the browser).
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
