import { useEffect, useMemo } from 'preact/hooks';
import type { StreamedEvent } from '../api/event-stream.js';
import { type LiveOptions, LiveQuery, OFTEN } from './live-query.js';

/**
 * Keeps an answer up to date while the component is shown.
 *
 * @param interval longest time between two requests, in ms
 * @param options the same object at each call
 */
export function useLive<T>(
  path: string,
  concerns: (event: StreamedEvent) => boolean,
  interval = OFTEN,
  options?: LiveOptions<T>,
): LiveQuery<T> {
  const query = useMemo(() => new LiveQuery<T>(path, concerns, interval, options), [path, interval, options]);
  useEffect(() => query.start(), [query]);
  return query;
}
