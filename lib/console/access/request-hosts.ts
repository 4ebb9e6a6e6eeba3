import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** A host as a Host header has it: a name, an IPv4 address or an IPv6 address in brackets, and a port. */
const HOST = /^(?<name>[\w.-]+|\[[\da-f:.]+\])(:(?<port>\d{1,5}))?$/;

/** All of these names mean this machine, see RFC 6761. */
const LOCAL = /^(.+\.)?localhost$/;

/**
 * All hosts that a request names, lower case: of the Host header (HTTP/2: of `:authority`), and of X-Forwarded-Host if a
 * proxy is trusted to set it. A header that is sent twice counts twice: Node itself takes the first one.
 */
export function requestHosts({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, trustProxy: boolean): string[] {
  const names = new Set([':authority', 'host', ...(trustProxy ? ['x-forwarded-host'] : [])]);
  return rawHeaders
    .filter((_, index) => index % 2 === 1 && names.has(rawHeaders[index - 1]!.toLowerCase()))
    .flatMap((value) => value.split(','))
    .map((host) => host.trim().toLowerCase());
}

/**
 * Whether all hosts are names or addresses that no foreign page can have. The name of a foreign page may resolve to this
 * machine (DNS rebinding); the browser then treats the console as a part of that page.
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

/** Whether a page of this origin was served under one of the hosts. An origin never has its scheme's own port. */
export function isSameHost({ protocol, host }: URL, hosts: readonly string[]): boolean {
  const ownPort = protocol === 'https:' ? /:443$/ : /:80$/;
  return host !== '' && hosts.some((each) => each.replace(ownPort, '') === host);
}

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
