import { useEffect, useMemo } from 'preact/hooks';
import type { StreamedEvent } from '../api/event-stream.js';
import { LiveQuery, OFTEN } from './live-query.js';

/**
 * Keeps an answer up to date while the component is shown.
 *
 * @param interval longest time between two requests, in ms
 * @param absent code of the problem of what need not be there
 */
export function useLive<T>(
  path: string,
  concerns: (event: StreamedEvent) => boolean,
  interval = OFTEN,
  absent?: string,
): LiveQuery<T> {
  const options = absent === undefined ? {} : { absent };
  const query = useMemo(() => new LiveQuery<T>(path, concerns, interval, options), [path, interval, absent]);
  useEffect(() => query.start(), [query]);
  return query;
}
