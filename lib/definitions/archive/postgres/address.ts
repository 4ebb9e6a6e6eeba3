import { quoted } from '../../../decision/index.js';

/** Whether pg takes it for an address: a URL, or the path of a socket's folder and a database after a space. */
export function isAddress(text: string): boolean {
  return text.startsWith('/') || urlOf(text) !== undefined;
}

/** For messages: without password and settings. */
export function placeOf(address: string): string {
  const url = urlOf(address);
  if (!url) return `PostgreSQL at ${address}`;
  const { host, pathname, username, searchParams } = url;
  const server = searchParams.get('host') ?? (host === NO_HOST ? '' : host);
  return `PostgreSQL at ${server}${pathname}${username ? `, user ${quoted(username)}` : ''}`;
}

const NO_HOST = 'no-host';

function urlOf(text: string): URL | undefined {
  if (!/^(postgres|postgresql|socket):/.test(text)) return undefined;
  // "postgres://user:password@/database?host=/run/postgresql" is no URL, and pg takes it.
  const readable = [text, text.replace('@/', `@${NO_HOST}/`)].find((each) => URL.canParse(each));
  return readable === undefined ? undefined : decodable(new URL(readable));
}

function decodable(url: URL): URL | undefined {
  try {
    decodeURIComponent(`${url.username} ${url.password} ${url.pathname}`);
    return url;
  } catch {
    // A bare "%": pg could not read it either.
    return undefined;
  }
}
