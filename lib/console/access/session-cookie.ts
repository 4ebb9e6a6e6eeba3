import type { IncomingHttpHeaders } from 'node:http';
import { PAGE_HEADER } from '../api/limits.js';
import { type ConsoleRequest, rawRequest } from '../http/console-request.js';
import { isFromHere } from './request-hosts.js';

/**
 * The cookie of a person who signed in with the page. It has no Path: the browser takes the folder of the address that set
 * it, "…/gatekeeper/api", also behind a proxy that adds a prefix which only the proxy knows. So no other address of the host
 * gets it. It has no end: the browser drops it when it closes, unless it restores its tabs.
 *
 * A browser sends a cookie to all ports of a host. So the port is a part of the name: two applications on one machine do
 * not end each other's sessions. The page says which port that is, because a proxy may hide it.
 */
const NAME = 'gatekeeper-session';

/** The name of the cookie; undefined for a request that is not one of the page. */
export function cookieNameOf(headers: IncomingHttpHeaders): string | undefined {
  const port = headers[PAGE_HEADER];
  return typeof port === 'string' && /^\d{0,5}$/.test(port) ? NAME + (port && `-${port}`) : undefined;
}

/**
 * The session that the page of this console sends; undefined if there is none. A page of another site can't send the page's
 * header without the consent of this server. With that consent it may send tokens, but use no session. A cookie that comes
 * twice was planted, maybe by another host of the domain.
 *
 * @param hosts the hosts that the request names
 */
export function sessionOf(headers: IncomingHttpHeaders, hosts: readonly string[]): string | undefined {
  const name = cookieNameOf(headers);
  // Over plain HTTP, browsers do not name the site, but they name the origin of a page elsewhere.
  const { 'sec-fetch-site': site = 'same-origin', cookie = '' } = headers;
  if (name === undefined || site !== 'same-origin' || !isFromHere(headers, hosts, [])) return undefined;
  const found = cookie.split(';').flatMap((part) => valueOf(part.trim(), name) ?? []);
  return found.length === 1 ? found[0] : undefined;
}

/** The header that gives a cookie to the browser, or takes it away. Scripts can't read it, and no other site sends it. */
export function setCookie(name: string, session: string | undefined, request: ConsoleRequest): string {
  const { socket } = rawRequest(request);
  const isSecure = 'encrypted' in socket || /^https:/i.test(request.headers.origin ?? '');
  const value = session === undefined ? `${name}=; Max-Age=0` : `${name}=${session}`;
  return `${value}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
}

function valueOf(part: string, name: string): string | undefined {
  return part.startsWith(`${name}=`) ? part.slice(name.length + 1) : undefined;
}
