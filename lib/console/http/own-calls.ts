import type { Route } from '../api/index.js';

/**
 * Tells whether a path of the application is one of the console's calls, below any mount of the application. Matches the
 * full path, so the host's other routes never match.
 *
 * @param mount the console's own path: "internal/gatekeeper"
 */
export function ownCalls(mount: string, routes: readonly Pick<Route, 'path'>[]): (path: string) => boolean {
  const calls = routes.map(({ path }) => escaped(path).replaceAll(/:\w+/g, '[^/]+'));
  const pattern = new RegExp(`(^|/)${escaped(mount)}/(${calls.join('|')})/?$`);
  return (path) => pattern.test(path);
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
