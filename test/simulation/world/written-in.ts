import { KEY_PREFIX } from '../../../lib/decision/record.js';
import type { SemaphoreRecord } from '../../../lib/decision/index.js';
import type { Written } from './name-history.js';

/** The semaphores that stand in a text of the store, by name. */
export function writtenIn(key: string, text: string): Iterable<[string, Written]> {
  const { permits, definition } = JSON.parse(text) as SemaphoreRecord;
  return [[key.slice(KEY_PREFIX.length), { permits, limit: definition?.permits ?? 0 }]];
}
