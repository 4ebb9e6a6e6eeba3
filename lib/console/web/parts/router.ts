import { computed, signal } from '@preact/signals';

/**
 * An address of the console: the part of the URL after `#`. So the page works under any prefix without routes of the
 * server, and a proxy's log shows no names of semaphores. "#/work/nightly?x=y" is { path: ['work', 'nightly'], query }.
 */
export interface Route {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

/** Pages under their former names. Bookmarks and links in tickets may still use them. */
const MOVED: ReadonlyMap<string | undefined, readonly string[]> = new Map([
  ['semaphores', ['work']],
  ['audit', ['changes']],
  ['migrate', ['operate', 'move']],
  ['maintenance', ['operate']],
]);

const hash = signal(present());
let former: string | undefined;
addEventListener('hashchange', () => {
  former = hash.value;
  hash.value = present();
});

/** Returns the address in the browser, and replaces a former name of a page. */
function present(): string {
  const { path, query } = routeOf(location.hash);
  const moved = MOVED.get(path[0]);
  if (!moved) return location.hash;
  const href = hrefOf([...moved, ...path.slice(1)], Object.fromEntries(query));
  history.replaceState(history.state, '', href);
  return href;
}

export const route = computed<Route>(() => routeOf(hash.value));

/** The address before the last change of page; undefined on the first page. */
export function cameFrom(): Route | undefined {
  return former === undefined ? undefined : routeOf(former);
}

export function routeOf(text: string): Route {
  const [path = '', query = ''] = text.replace(/^#?\/?/, '').split('?', 2);
  return { path: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

/** Returns the address of a page of the console. */
export function hrefOf(path: readonly string[], query: Record<string, string | undefined> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${search && `?${search}`}`;
}

export function goTo(href: string): void {
  location.hash = href;
}

/** Changes the filters in the address, without an entry in the browser's history for each keystroke. */
export function replaceQuery(query: Record<string, string | undefined>): void {
  const href = hrefOf(route.value.path, query);
  history.replaceState(history.state, '', href);
  hash.value = href;
}

/** Changes some filters in the address, as {@link replaceQuery}, and keeps the others. */
export function changeQuery(changes: Record<string, string | undefined>): void {
  replaceQuery({ ...Object.fromEntries(route.value.query), ...changes });
}

/** Decodes a part of the address. Returns an invalid one, which a user may have typed, unchanged. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
