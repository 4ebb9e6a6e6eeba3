import { quoted } from '../../core/decision/index.js';

/** Does not contain the value, unlike the texts of other faults, because the value may contain a password. */
export const NO_ADDRESS =
  'is no address like "postgres://user:password@host:5432/database" (write special characters of a password as codes: "%23" for "#")';

/** Whether pg accepts a text as an address: a URL, or the path of a socket's folder, then a space and a database. */
export function isAddress(text: string): boolean {
  return text.startsWith('/') || urlOf(text) !== undefined;
}

/** An address for messages, without password and settings. */
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
  // pg accepts "postgres://user:password@/database?host=/run/postgresql", although that is not a URL.
  const readable = [text, text.replace('@/', `@${NO_HOST}/`)].find((each) => URL.canParse(each));
  return readable === undefined ? undefined : decodable(new URL(readable));
}

function decodable(url: URL): URL | undefined {
  try {
    decodeURIComponent(`${url.username} ${url.password} ${url.pathname}`);
    return url;
  } catch {
    // The text has a "%" without a code. pg can't read that either.
    return undefined;
  }
}
