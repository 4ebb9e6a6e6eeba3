import type { IncomingHttpHeaders } from 'node:http';
import { PAGE_HEADER } from '../api/limits.js';
import { type ConsoleRequest, rawRequest } from '../http/console-request.js';

/**
 * The cookie of a person who signed in with the page. It has no Path: the browser takes the folder of the address that set
 * it, "…/gatekeeper/api", also behind a proxy that adds a prefix which only it knows. So no other address of the host gets
 * it. It has no end: the browser drops it when it closes.
 *
 * A browser sends a cookie to all ports of a host. So the port is a part of the name: two applications on one machine do
 * not end each other's sessions. The page says which port that is, because a proxy may hide it.
 */
const NAME = 'gatekeeper-session';

/**
 * The session that the page of this console sends; undefined if there is none. A page of another site can't send the page's
 * header without the consent of this server. A cookie that comes twice was planted, maybe by another host of the domain.
 */
export function sessionOf({ cookie = '', ...headers }: IncomingHttpHeaders): string | undefined {
  const name = cookieName(headers);
  const site = headers['sec-fetch-site'];
  if (name === undefined || (site !== undefined && site !== 'same-origin')) return undefined;
  const found = cookie.split(';').flatMap((part) => valueOf(part.trim(), name) ?? []);
  return found.length === 1 ? found[0] : undefined;
}

/** The header that gives the page a session. @throws if the request is not one of the page */
export function cookieWith(session: string, request: ConsoleRequest): string {
  return `${cookieName(request.headers)}=${session}; ${attributes(request)}`;
}

/** The header that takes the page's session away. */
export function cookieWithout(request: ConsoleRequest): string {
  return `${cookieName(request.headers)}=; Max-Age=0; ${attributes(request)}`;
}

/** Whether a request comes from the page of this console, by its own word. */
export function isFromPage({ headers }: ConsoleRequest): boolean {
  return cookieName(headers) !== undefined;
}

/** @returns undefined for a request that is not one of the page */
function cookieName(headers: IncomingHttpHeaders): string | undefined {
  const port = headers[PAGE_HEADER];
  return typeof port === 'string' && /^\d{0,5}$/.test(port) ? NAME + (port && `-${port}`) : undefined;
}

/** Scripts can't read it, no other site sends it, and it never leaves HTTPS once the page came over HTTPS. */
function attributes(request: ConsoleRequest): string {
  const { socket } = rawRequest(request);
  const isSecure = 'encrypted' in socket || /^https:/i.test(request.headers.origin ?? '');
  return `HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
}

function valueOf(part: string, name: string): string | undefined {
  return part.startsWith(`${name}=`) ? part.slice(name.length + 1) : undefined;
}
