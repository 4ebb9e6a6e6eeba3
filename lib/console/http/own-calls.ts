import { LARGEST_BODY, ROUTES, type Route } from '../api/index.js';
import { STORE_ROUTES } from '../api/store-routes.js';
import { escaped, pathPattern } from './route-table.js';

/** All calls of the console that a client may make. */
const CALLS: readonly Route[] = [...Object.values<Route>(ROUTES), ...Object.values<Route>(STORE_ROUTES)];

/** Tells the console's calls from those of the application, below any prefix of the application. */
export class OwnCalls {
  readonly #paths: readonly string[];
  readonly #pattern: RegExp;
  readonly #below: RegExp;

  /** @param mount the console's own path: "internal/gatekeeper" */
  constructor(mount: string) {
    this.#paths = [...new Set(CALLS.map(({ path }) => path))];
    const calls = this.#paths.map((path) => `(${pathPattern(path, '[^/]+')})`);
    // It matches the full path, so the host's other routes never match. Express does not tell capitals from small letters.
    this.#pattern = new RegExp(`(?:^|/)${escaped(mount)}/+(?:${calls.join('|')})/*$`, 'i');
    this.#below = new RegExp(`(?:^|/)${escaped(mount)}(?:/|$)`, 'i');
  }

  /** Whether a URL is at or below the console's path. */
  isBelow(url: string): boolean {
    return this.#below.test(pathOf(url));
  }

  /** Whether a URL, with or without its query, is that of a call. */
  has(url: string): boolean {
    return this.#pattern.test(pathOf(url));
  }

  /** The largest body that a call takes, in bytes; undefined for a URL of the application. */
  largestBodyOf(url: string): number | undefined {
    const found = this.#pattern.exec(pathOf(url))?.slice(1) ?? [];
    const index = found.findIndex((each) => each !== undefined);
    const path = this.#paths[index];
    if (path === undefined) return undefined;
    return Math.max(...CALLS.filter((call) => call.path === path).map(({ largestBody = LARGEST_BODY }) => largestBody));
  }
}

/** Fastify also takes a path whose letters are encoded. */
function pathOf(url: string): string {
  const path = url.split(/[?#]/, 1)[0]!;
  try {
    return decodeURI(path);
  } catch {
    // An escape that is none. No path of the console has one.
    return path;
  }
}
