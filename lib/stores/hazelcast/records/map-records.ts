import type { IMap } from 'hazelcast-client';
import type { RecordPage } from '../../../core/store/store.js';
import { isUnreadable, textOf, unreadableText } from './foreign-value.js';
import { MapPages } from './map-pages.js';
import type { Records } from './records.js';

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

  async readMany(keys: readonly string[]): Promise<Map<string, string>> {
    if (keys.length === 0) return new Map();
    const entries = await readAll(this.map, [...keys]);
    return new Map(entries.filter(([, value]) => value !== null).map(([key, value]) => [key, textOf(value)]));
  }
}

async function readAll(map: IMap<string, unknown>, keys: string[]): Promise<[string, unknown][]> {
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
