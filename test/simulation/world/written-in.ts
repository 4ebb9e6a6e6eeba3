import { KEY_PREFIX, SHARD_PREFIX, decodeShard } from '../../../lib/decision/index.js';
import type { SemaphoreRecord } from '../../../lib/decision/index.js';
import type { Written } from './name-history.js';

/** The semaphores that stand in a text of the store, by name. */
export function writtenIn(key: string, text: string): Iterable<[string, Written]> {
  if (key.startsWith(SHARD_PREFIX)) return writtenInShard(text);
  if (!key.startsWith(KEY_PREFIX)) return [];
  const { permits, definition } = JSON.parse(text) as SemaphoreRecord;
  return [[key.slice(KEY_PREFIX.length), { permits, limit: definition?.permits ?? 0 }]];
}

/** A name on demand has one permit, unless an operator defined it. */
function* writtenInShard(text: string): Iterable<[string, Written]> {
  for (const [name, { permits, definition }] of decodeShard('', text).names) {
    yield [name, { permits, limit: definition?.permits ?? 1 }];
  }
}
