import { CALLS, type Call, LARGEST_BODY, MEDIA_TYPE, WATCH } from '../../stores/remote/protocol.js';
import { z } from 'zod';
import { type Route, route } from './index.js';

export const WATCH_ROUTE = route({
  method: 'GET',
  path: WATCH.path,
  summary: 'A stream of the changes below a prefix',
  role: 'node',
  query: WATCH.query,
  mediaType: 'text/event-stream',
  answer: z.string(),
});

const calls = Object.entries<Call>(CALLS).map(([name, call]) => ({ name, call, route: routeOf(call) }));

/** The calls of the protocol by the routes that serve them. */
export const SERVED_CALLS: ReadonlyMap<Route, Call> = new Map(calls.map(({ call, route }) => [route, call]));

/**
 * The calls of `remote()` in another application, by name. They are not in the OpenAPI document, because both ends are this
 * package.
 */
export const STORE_ROUTES: Readonly<Record<string, Route>> = {
  ...Object.fromEntries(calls.map(({ name, route }) => [name, route])),
  watch: WATCH_ROUTE,
};

function routeOf({ path, effect, body, answer }: Call): Route {
  return {
    method: 'POST',
    path,
    summary: 'A call of the store protocol',
    role: 'node',
    writes: effect !== 'none',
    accepts: MEDIA_TYPE,
    largestBody: LARGEST_BODY,
    body,
    answer,
  };
}
