import { useEffect, useMemo } from 'preact/hooks';
import type { StreamedEvent } from '../api/event-stream.js';
import { LiveQuery } from './live-query.js';

/** An answer that keeps itself up to date while the component is shown. */
export function useLive<T>(path: string, concerns: (event: StreamedEvent) => boolean): LiveQuery<T> {
  const query = useMemo(() => new LiveQuery<T>(path, concerns), [path]);
  useEffect(() => query.start(), [query]);
  return query;
}
