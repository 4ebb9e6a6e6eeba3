import { CALLS, type Call, LARGEST_BODY, MEDIA_TYPE, WATCH } from '../../stores/remote/protocol.js';
import { z } from 'zod';
import { type Route, route } from '../api/index.js';

/**
 * The calls of `remote()` in another application. They are not in the OpenAPI document, because both ends are this
 * package.
 */
export const STORE_ROUTES = {
  read: served(CALLS.read),
  compareAndSet: served(CALLS.compareAndSet),
  list: served(CALLS.list),
  page: served(CALLS.page),
  readMany: served(CALLS.readMany),
  now: served(CALLS.now),
  health: served(CALLS.health),
  append: served(CALLS.append),
  readJournal: served(CALLS.readJournal),
  watch: route({
    method: 'GET',
    path: WATCH.path,
    summary: 'A stream of the changes below a prefix',
    role: 'node',
    query: WATCH.query,
    mediaType: 'text/event-stream',
    answer: z.string(),
  }),
};

function served<C extends Call>({ path, writes = false, body, answer }: C) {
  return route({
    method: 'POST',
    path,
    summary: 'A call of the store protocol',
    role: 'node',
    writes,
    accepts: MEDIA_TYPE,
    largestBody: LARGEST_BODY,
    body: body as C['body'],
    answer: answer as C['answer'],
  } satisfies Route);
}
