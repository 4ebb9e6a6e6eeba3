import { useEffect, useMemo } from 'preact/hooks';
import type { StreamedEvent } from '../api/event-stream.js';
import { LiveQuery, OFTEN } from './live-query.js';

/**
 * Keeps an answer up to date while the component is shown.
 *
 * @param interval longest time between two requests, in ms
 */
export function useLive<T>(path: string, concerns: (event: StreamedEvent) => boolean, interval = OFTEN): LiveQuery<T> {
  const query = useMemo(() => new LiveQuery<T>(path, concerns, interval), [path, interval]);
  useEffect(() => query.start(), [query]);
  return query;
}
