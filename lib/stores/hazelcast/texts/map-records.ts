import type { Client as HazelcastClient } from 'hazelcast-client';
import type { RecordPage, RecordTexts } from '../../../core/store/driver.js';
import { inPartitionOf } from '../predicates.js';
import { MapTexts, type TextMap } from './map-texts.js';

/** A map with at most this number of keys is one page, because its keys are decoded in a few ms. */
const SMALL = 2000;
/** Approximate number of keys on a page of a larger map. */
const PAGE = 500;

/**
 * Optimistic records. A large map is paged by partition: `keySet()` of 100,000 keys would block the event loop for a tenth
 * of a second, and with a paging predicate the members would sort all keys for each page.
 *
 * The keys are filtered here and not by a predicate: if one key is a number, a predicate on `__key` fails for all keys
 * (ClassCastException on the member).
 */
export class MapRecords extends MapTexts implements RecordTexts {
  #knownKeys: readonly string[] | undefined;

  constructor(
    map: TextMap,
    /** Finds one key per partition, in the order of the partitions. */
    private readonly partitionKeys: () => readonly string[],
  ) {
    super(map);
  }

  /** @param after `next` of the page before: the first partition of this page, and the number of partitions per page */
  async page(prefix: string, after?: string): Promise<RecordPage> {
    const isMine = (key: unknown): key is string => typeof key === 'string' && key.startsWith(prefix);
    const size = after === undefined ? await this.map.size() : Infinity;
    if (size <= SMALL) return { texts: await this.readMany([...(await this.map.keySet())].filter(isMine)) };
    const partitions = (this.#knownKeys ??= this.partitionKeys());
    const [from, count] = after?.split('/').map(Number) ?? [0, Math.ceil((PAGE * partitions.length) / size)];
    const to = from! + count!;
    const sets = await Promise.all(partitions.slice(from, to).map((key) => this.#keysBeside(key)));
    const texts = await this.readMany(sets.flatMap((set) => [...set].filter(isMine)));
    return to < partitions.length ? { texts, next: `${to}/${count}` } : { texts };
  }

  /** All keys of the partition that `key` belongs to. `key` itself need not be in the map. */
  #keysBeside(key: string): Promise<Iterable<unknown>> {
    return this.map.keySetWithPredicate(inPartitionOf(key));
  }
}

/** Finds one key per partition of the client's cluster. */
export function partitionKeys(client: HazelcastClient): readonly string[] {
  const partitions = client.getPartitionService();
  const keys: string[] = [];
  for (let missing = partitions.getPartitionCount(), next = 0; missing > 0; next++) {
    const partition = partitions.getPartitionId(`${next}`);
    if (keys[partition] === undefined) missing--;
    keys[partition] ??= `${next}`;
  }
  return keys;
}
