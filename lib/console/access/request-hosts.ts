import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** Value of a Host header: a name, an IPv4 address, or an IPv6 address in brackets, with or without a port. */
const HOST = /^(?<name>[\w.-]+|\[[\da-f:.]+\])(:(?<port>\d{1,5}))?$/;

/** Names that mean this machine, see RFC 6761. */
const LOCAL = /^(.+\.)?localhost$/;

/**
 * Returns all hosts that a request names, in lower case: from the Host header (HTTP/2: `:authority`), and from
 * X-Forwarded-Host if a proxy is trusted to set it. A header that is sent twice counts twice, although Node itself uses
 * only the first one.
 */
export function requestHosts({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, trustProxy: boolean): string[] {
  const names = new Set([':authority', 'host', ...(trustProxy ? ['x-forwarded-host'] : [])]);
  return rawHeaders
    .filter((_, index) => index % 2 === 1 && names.has(rawHeaders[index - 1]!.toLowerCase()))
    .flatMap((value) => value.split(','))
    .map((host) => host.trim().toLowerCase());
}

/**
 * Whether no foreign page can have any of these hosts. The host name of a foreign page may resolve to this machine (DNS
 * rebinding). Then the browser treats the console as a part of that page.
 *
 * @param allowed names without a port, lower case
 */
export function areAllowed(hosts: readonly string[], allowed: readonly string[]): boolean {
  return hosts.length > 0 && hosts.every((host) => isAllowed(host, allowed));
}

function isAllowed(host: string, allowed: readonly string[]): boolean {
  const name = HOST.exec(host)?.groups?.['name']?.replace(/\.$/, '');
  if (name === undefined) return false;
  return LOCAL.test(name) || isIP(name.replace(/^\[|\]$/g, '')) !== 0 || allowed.includes(name);
}

/** Whether an origin has one of the hosts. An origin does not contain the default port of its scheme. */
export function isSameHost({ protocol, host }: URL, hosts: readonly string[]): boolean {
  const ownPort = protocol === 'https:' ? /:443$/ : /:80$/;
  return host !== '' && hosts.some((each) => each.replace(ownPort, '') === host);
}

/**
 * Whether a request comes from the console's own page, from an allowed page, or from no page. The browser sets headers
 * about this, which no page can forge. Without this check a page of another site could use the cookies that the browser
 * sends, or an insecure console that the browser can reach.
 *
 * @param hosts the hosts that the request names, see {@link requestHosts}
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
