import type { IMap } from 'hazelcast-client';
import { isUnreadable, textOf, unreadableText } from './foreign-value.js';
import type { Records } from './records.js';

/** Optimistic: the entry's owner compares and writes in one operation, without a lock. */
export class MapRecords implements Records {
  constructor(readonly map: IMap<string, unknown>) {}

  get(key: string): Promise<unknown> {
    return this.map.get(key);
  }

  async compareAndSet(key: string, expected: string | undefined, next: string): Promise<boolean> {
    return expected === undefined
      ? (await this.map.putIfAbsent(key, next)) === null
      : this.map.replaceIfSame(key, expected, next);
  }

  list(prefix: string): Promise<Map<string, string>> {
    return listTexts(this.map, prefix);
  }
}

/**
 * Reads the texts under keys that begin with `prefix`. The keys are filtered here and not by a predicate: one key that
 * is a number makes a predicate on `__key` fail for all of them (ClassCastException on the member).
 */
async function listTexts(map: IMap<string, unknown>, prefix: string): Promise<Map<string, string>> {
  const keys = [...(await map.keySet())].filter((key) => typeof key === 'string' && key.startsWith(prefix));
  if (keys.length === 0) return new Map();
  const entries = await readAll(map, keys);
  return new Map(entries.filter(([, value]) => value !== null).map(([key, value]) => [key, textOf(value)]));
}

async function readAll(map: IMap<string, unknown>, keys: string[]): Promise<[string, unknown][]> {
  try {
    return await map.getAll(keys);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    // One value of an unknown type fails the whole batch: read one by one, so that the others are found all the same.
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
