import type { IMap } from 'hazelcast-client';
import type { RecordPage } from '../../store.js';
import loadHazelcastClient from '../../../../load-hazelcast-client.cjs';
import { isUnreadable, textOf, unreadableText } from './foreign-value.js';
import { MapPages } from './map-pages.js';
import type { Records } from './records.js';

/** `getAll()` makes a call for each partition. Fewer keys than that need no query. */
const FEW = 8;
/** Entries at which the members look for a query, in the time of one call. */
const SCANNED = { perCall: 100, most: 10_000 };

/** Optimistic records: the member that owns the entry compares and writes in one operation, without a lock. */
export class MapRecords implements Records {
  readonly #pages: MapPages;

  constructor(
    readonly map: IMap<string, unknown>,
    partitionKeys: () => readonly string[],
  ) {
    this.#pages = new MapPages(map, partitionKeys);
  }

  get(key: string): Promise<unknown> {
    return this.map.get(key);
  }

  /** Not async, which would cost three more promises per write. */
  compareAndSet(key: string, expected: string | undefined, next: string): Promise<boolean> {
    if (expected !== undefined) return this.map.replaceIfSame(key, expected, next);
    return this.map.putIfAbsent(key, next).then((found) => found === null);
  }

  async page(prefix: string, after?: string): Promise<RecordPage> {
    const { keys, next } = await this.#pages.keys(prefix, after);
    return { texts: await this.readMany(keys), ...(next !== undefined && { next }) };
  }

  /**
   * Reads many keys with a query if the map is small: the 512 shards, which each node reads every 10 s, come with 3 calls and
   * not with 237.
   */
  async readMany(keys: readonly string[]): Promise<Map<string, string>> {
    const scanned = Math.min(SCANNED.perCall * keys.length, SCANNED.most);
    const found = keys.length > FEW && (await this.map.size()) <= scanned && (await this.#between(keys));
    return found || readAll(this.map, keys);
  }

  /**
   * The members compare each key with the first and the last one, which takes them and this client less than a list of keys.
   *
   * @returns undefined if many others stand between them, whose texts may be large; or if the query failed: on a number as a key
   *   of the map, for instance, or on a value that can't be read
   */
  async #between(keys: readonly string[]): Promise<Map<string, string> | undefined> {
    const sorted = keys.toSorted();
    const range = loadHazelcastClient().Predicates.between('__key', sorted[0], sorted.at(-1));
    const wanted = new Set(keys);
    try {
      if ([...(await this.map.keySetWithPredicate(range))].length > 2 * keys.length) return undefined;
      const found = [...(await this.map.entrySetWithPredicate(range))].filter(([key]) => wanted.has(key));
      return new Map(found.map(([key, value]) => [key, textOf(value)]));
    } catch {
      return undefined; // the caller reads the keys themselves, and throws if the store does not answer
    }
  }
}

/** The texts under these keys, without those that have none. */
export async function readAll(map: IMap<string, unknown>, keys: readonly string[]): Promise<Map<string, string>> {
  if (keys.length === 0) return new Map();
  const entries = await entriesOf(map, [...keys]);
  return new Map(entries.filter(([, value]) => value !== null).map(([key, value]) => [key, textOf(value)]));
}

async function entriesOf(map: IMap<string, unknown>, keys: string[]): Promise<[string, unknown][]> {
  try {
    return await map.getAll(keys);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    // One value of an unknown type makes the whole batch fail. So the values are read one by one.
    return Promise.all(keys.map(async (key): Promise<[string, unknown]> => [key, await readOne(map, key)]));
  }
}

async function readOne(map: IMap<string, unknown>, key: string): Promise<unknown> {
  try {
    return await map.get(key);
  } catch (error) {
    if (isUnreadable(error)) return unreadableText(error);
    throw error;
  }
}
