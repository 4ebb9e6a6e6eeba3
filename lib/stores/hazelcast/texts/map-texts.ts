import type { Client as HazelcastClient, IMap } from 'hazelcast-client';
import { forEachLimit } from '../../../core/async/for-each-limit.js';
import type { RecordPage, RecordCollection, TextCollection } from '../../../core/store/driver.js';
import { inPartitionOf } from '../predicates.js';
import { isUnreadable, textIn, textOf } from './foreign-value.js';

export type TextMap = IMap<string, unknown>;

/**
 * Texts in a map of one client. The member that owns an entry compares and writes in one operation, without a lock.
 *
 * Like all texts beside this file, it throws the client's own errors, and `Calls` maps them. A GatekeeperError means that
 * surely nothing was written.
 */
export class MapTexts implements TextCollection {
  constructor(readonly map: TextMap) {}

  read(key: string): Promise<string | undefined> {
    return textIn(this.map.get(key));
  }

  async readMany(keys: readonly string[]): Promise<Map<string, string>> {
    if (keys.length === 0) return new Map();
    try {
      const entries = await this.map.getAll([...keys]);
      return new Map(entries.flatMap(([key, value]) => (value === null ? [] : [[key, textOf(value)] as const])));
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      // One value of an unknown type makes the whole batch fail. So the values are read one by one.
      return readEach(keys, (key) => this.read(key));
    }
  }

  /** Not async, which would cost three more promises per write. */
  compareAndSet(key: string, expected: string | undefined, next: string | undefined): Promise<boolean> {
    if (expected !== undefined && next !== undefined) return this.map.replaceIfSame(key, expected, next);
    if (expected !== undefined) return this.map.remove(key, expected).then((removed) => removed === true);
    if (next !== undefined) return this.map.putIfAbsent(key, next).then((found) => found === null, refused);
    return this.map.containsKey(key).then((isThere) => !isThere);
  }
}

/** The answer of the members is a value of another program that this client can't read, so nothing was written. */
function refused(error: unknown): false {
  if (isUnreadable(error)) return false;
  throw error;
}

/** Reads each text by a call of its own, a limited number at the same time. */
export async function readEach(
  keys: readonly string[],
  read: (key: string) => Promise<string | undefined>,
): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  await forEachLimit(keys, async (key) => {
    const text = await read(key);
    if (text !== undefined) texts.set(key, text);
  });
  return texts;
}

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
export class MapRecords extends MapTexts implements RecordCollection {
  /** One key per partition, in the order of the partitions. */
  #partitionKeys: readonly string[] | undefined;

  constructor(
    map: TextMap,
    private readonly client: HazelcastClient,
  ) {
    super(map);
  }

  /** @param after `next` of the page before: the first partition of this page, and the number of partitions per page */
  async page(prefix: string, after?: string): Promise<RecordPage> {
    const isMine = (key: unknown): key is string => typeof key === 'string' && key.startsWith(prefix);
    const size = after === undefined ? await this.map.size() : Infinity;
    if (size <= SMALL) return { texts: await this.readMany([...(await this.map.keySet())].filter(isMine)) };
    const partitions = (this.#partitionKeys ??= partitionKeys(this.client));
    const [from, count] = after?.split('/').map(Number) ?? [0, Math.ceil((PAGE * partitions.length) / size)];
    const to = from! + count!;
    const sets = await Promise.all(
      partitions.slice(from, to).map((key) => this.map.keySetWithPredicate(inPartitionOf(key))),
    );
    const texts = await this.readMany(sets.flatMap((set) => [...set].filter(isMine)));
    return to < partitions.length ? { texts, next: `${to}/${count}` } : { texts };
  }
}

/** Finds one key per partition of the client's cluster. */
function partitionKeys(client: HazelcastClient): readonly string[] {
  const partitions = client.getPartitionService();
  const keys: string[] = [];
  for (let missing = partitions.getPartitionCount(), next = 0; missing > 0; next++) {
    const partition = partitions.getPartitionId(`${next}`);
    if (keys[partition] === undefined) missing--;
    keys[partition] ??= `${next}`;
  }
  return keys;
}
