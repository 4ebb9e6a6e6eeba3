import type { Route } from '../api/index.js';

/** A call of the console that a request makes. */
export interface Found<Served> {
  readonly served: Served;
  /** Values of the path, as they were sent: still encoded. */
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Finds the call of a request by its method and its path below the console's own. One table for all servers: routers of
 * servers differ in capitals, slashes at the end, and how long a name in a path may be.
 */
export class RouteTable<Served extends { readonly route: Route }> {
  readonly #entries: readonly { readonly served: Served; readonly pattern: RegExp }[];

  constructor(all: readonly Served[]) {
    this.#entries = all.map((served) => ({
      served,
      pattern: new RegExp(`^${pathPattern(`/${served.route.path}`, '(?<$1>[^/]+)')}${SLASH(served.route)}$`, 'i'),
    }));
  }

  /**
   * The first call that matches.
   *
   * @param method of HTTP; HEAD gets the answer to GET without its body
   * @param path such as "/api/semaphores/a%2Fb", without the query
   */
  find(method: string, path: string): Found<Served> | undefined {
    const wanted = method === 'HEAD' ? 'GET' : method;
    for (const { served, pattern } of this.#entries) {
      const match = served.route.method === wanted ? pattern.exec(path) : null;
      if (match) return { served, params: { ...match.groups } };
    }
    return undefined;
  }

  /** The paths of all calls by their first part, as a router with wildcards has them: "/", "/index.html", "/api/*". */
  roots(): string[] {
    const paths = this.#entries.map(({ served }) => `/${served.route.path}`);
    return [...new Set(paths.map((path) => path.replace(/^(\/[^/]+\/).*/, '$1*')))];
  }
}

/** A slash at the end is no part of a path. That of the page is nothing else. */
const SLASH = ({ path }: Route) => (path === '' ? '' : '/?');

/** The path of a route as a pattern. @param segment pattern of a value in the path; $1 is its name */
export function pathPattern(path: string, segment: string): string {
  return escaped(path).replaceAll(/:(\w+)/g, segment);
}

export function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
