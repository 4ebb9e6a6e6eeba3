import type { Route } from '../api/index.js';

/**
 * Tells whether a path of the application is one of the console's calls, wherever the application mounts it: by all of
 * the path, so that nothing else that the application serves beside the console is taken for it.
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
