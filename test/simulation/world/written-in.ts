import { KEY_PREFIX } from '../../../lib/core/decision/record.js';
import {
  LONGEST_ON_DEMAND,
  SHARD_PREFIX,
  type SemaphoreRecord,
  type StoredPermit,
} from '../../../lib/core/decision/index.js';
import type { Written } from './name-history.js';

interface ShardText {
  readonly names: readonly {
    readonly name: string;
    readonly permits: readonly StoredPermit[];
    readonly definition?: { readonly permits: number };
  }[];
}

/** The semaphores that stand in a text of the store, by name. One that is used on demand has one permit. */
export function writtenIn(key: string, text: string): [string, Written][] {
  if (key.startsWith(SHARD_PREFIX)) {
    const { names } = JSON.parse(text) as ShardText;
    return names.map(({ name, permits, definition }) => [
      name,
      { permits, limit: definition?.permits ?? 1, ...(!definition && { longest: LONGEST_ON_DEMAND }) },
    ]);
  }
  if (!key.startsWith(KEY_PREFIX)) return [];
  const { permits, definition } = JSON.parse(text) as SemaphoreRecord;
  return [[key.slice(KEY_PREFIX.length), { permits, limit: definition?.permits ?? 0 }]];
}
