/**
 * An address for error texts and lists: without user, password, query and fragment, which may be secret. Also of a text that
 * is no URL: all up to the last "@" may be a password, as in "host:password@name".
 */
export function urlText(text: string): string {
  const [, scheme = '', rest = ''] = /^([a-z][a-z\d+.-]*:\/+)?(.*)$/isu.exec(text) ?? [];
  const at = rest.lastIndexOf('@');
  const query = rest.search(/[?#]/u);
  // Either the password has a "?", or the query has an "@".
  if (query >= 0 && at > query) return `${scheme}…`;
  const place = at < 0 ? rest : `…${rest.slice(at)}`;
  return scheme + place.replace(/[?#].*$/su, '?…');
}
