import { useEffect, useMemo } from 'preact/hooks';
import type { Path } from '../api/call.js';
import type { StreamedEvent } from '../api/event-stream.js';
import { type LiveOptions, LiveQuery, OFTEN } from './live-query.js';

/**
 * Keeps an answer up to date while the component is shown.
 *
 * @param interval longest time between two requests, in ms
 * @param options the same object at each call
 */
export function useLive<Answer, Shown = Answer>(
  path: Path<Answer>,
  concerns: (event: StreamedEvent) => boolean,
  interval = OFTEN,
  options?: LiveOptions<Answer, Shown>,
): LiveQuery<Shown> {
  const query = useMemo(() => new LiveQuery<Shown>(path, concerns, interval, options), [path, interval, options]);
  useEffect(() => query.start(), [query]);
  return query;
}
