import type { ShardRootReader } from './shard-root-reader.js';

/** Why nodes may not know the shards of the names on demand, although the store answers. */
export interface ShardsFault {
  /** The node's monotonic ms. */
  readonly since: number;
  /** The reason in a sentence, for people. */
  readonly sentence: string;
}

const UNREADABLE =
  'a node that starts now grants no name on demand, and puts no new definition of its code in force. If no newer ' +
  'version wrote the root, remove this one entry (shards:root): the nodes write it again';
const LATE =
  'this node has not read the shards of the names on demand yet: it grants none of these names, and puts no new ' +
  "definition of its code in force. The node's log shows why";

/**
 * Finds the fault of the shards, if any. Pure.
 *
 * @param hasHistory whether this node has read the shards
 * @param now the node's monotonic ms
 * @param longest the longest duration of a birth, in ms
 */
export function shardsFault(
  { unreadable, answeredSince }: Pick<ShardRootReader, 'unreadable' | 'answeredSince'>,
  { hasHistory, now, longest }: { readonly hasHistory: boolean; readonly now: number; readonly longest: number },
): ShardsFault | undefined {
  if (unreadable) return { since: unreadable.since, sentence: `${unreadable.error.message}; ${UNREADABLE}` };
  if (hasHistory || answeredSince === undefined || now - answeredSince < longest) return undefined;
  return { since: answeredSince, sentence: LATE };
}
