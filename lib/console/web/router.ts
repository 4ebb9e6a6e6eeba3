import { computed, signal } from '@preact/signals';

/**
 * The current address, after the `#`. So the page works under any prefix without server routes, and no name of a semaphore
 * gets into a proxy's log. "#/semaphores/nightly?x=y" -> { path: ['semaphores', 'nightly'], query }.
 */
export interface Route {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

const hash = signal(location.hash);
let former: string | undefined;
addEventListener('hashchange', () => {
  former = hash.value;
  hash.value = location.hash;
});

export const route = computed<Route>(() => routeOf(hash.value));

/** The address before the last change of page. */
export function cameFrom(): Route | undefined {
  return former === undefined ? undefined : routeOf(former);
}

export function routeOf(text: string): Route {
  const [path = '', query = ''] = text.replace(/^#?\/?/, '').split('?', 2);
  return { path: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

/** The address of a page of the console. */
export function hrefOf(path: readonly string[], query: Record<string, string | undefined> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${search && `?${search}`}`;
}

export function goTo(href: string): void {
  location.hash = href;
}

/** Puts filters into the address without a new entry in the browser's history for each keystroke. */
export function replaceQuery(query: Record<string, string | undefined>): void {
  const href = hrefOf(route.value.path, query);
  history.replaceState(history.state, '', href);
  hash.value = href;
}

/** A mistyped address is shown as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
